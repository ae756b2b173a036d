/** The encoders of the languages that guests run, by the guests themselves. */
import type { RunRequest } from '../../../src/index.ts'
import { bun, python } from '../use-lazaret.ts'
import { javascript } from './encoders.ts'

const pythonProgram = `
import base64, binascii, csv, html, io, json, quopri, re, shlex, urllib.parse
from email.utils import quote as quote_for_mail
from http.cookies import SimpleCookie
from xml.sax.saxutils import escape as escape_xml, quoteattr
def row(text, **options):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator='', **options).writerow([text])
    return out.getvalue()[1:-1]
def cookie(text):
    out = SimpleCookie()
    out['x'] = text
    return re.sub('^"|"$', '', out['x'].coded_value)
def shell(text):
    out = shlex.quote(text)
    return out if out == text else out[1:-1]
def bytewise(encode, *options): return lambda text: encode(text.encode(), *options).decode('latin1')
encoders = {
    'quote': urllib.parse.quote, 'quote with no safe characters': lambda text: urllib.parse.quote(text, safe=''),
    'quote_plus': urllib.parse.quote_plus, 'urlencode': lambda text: urllib.parse.urlencode({'': text})[1:],
    'urlencode of html.escape': lambda text: urllib.parse.quote_plus(html.escape(text)),
    'json.dumps': lambda text: json.dumps(text)[1:-1], 'json.dumps twice': lambda text: json.dumps(json.dumps(text))[3:-3],
    'html.escape': html.escape, 'html.escape without quotes': lambda text: html.escape(text, quote=False),
    'html.escape twice': lambda text: html.escape(html.escape(text)),
    'xml.sax.saxutils.escape': escape_xml, 'quoteattr': lambda text: quoteattr(text)[1:-1],
    'repr': lambda text: repr(text)[1:-1], 'repr of bytes': lambda text: repr(text.encode())[2:-1],
    'unicode_escape': lambda text: text.encode('unicode_escape').decode(), 're.escape': re.escape, 'shlex.quote': shell,
    'email.utils.quote': quote_for_mail, 'SimpleCookie': cookie, 'csv': row,
    'csv with escapes': lambda text: row(text, doublequote=False, escapechar='\\\\'),
    'base64.b64encode': bytewise(base64.b64encode), 'base64.urlsafe_b64encode': bytewise(base64.urlsafe_b64encode),
    'base64.encodebytes': bytewise(base64.encodebytes), 'base64.b32encode': bytewise(base64.b32encode),
    'base64.b16encode': bytewise(base64.b16encode), 'binascii.b2a_base64': bytewise(binascii.b2a_base64),
    'json.dumps of base64.encodebytes': lambda text: json.dumps(base64.encodebytes(text.encode()).decode())[1:-1],
    'urlencode of base64.encodebytes': lambda text: urllib.parse.quote_plus(base64.encodebytes(text.encode())),
    'binascii.hexlify': bytewise(binascii.hexlify), 'hexlify with colons': bytewise(binascii.hexlify, ':'),
    'quopri': bytewise(quopri.encodestring), 'quopri with quoted spaces': bytewise(quopri.encodestring, True),
    'quopri for a header': bytewise(quopri.encodestring, True, True), 'binascii.b2a_qp': bytewise(binascii.b2a_qp),
    **{name: lambda text, name=name: text.encode(name).decode('latin1') for name in ('utf_16_le', 'utf_16_be', 'utf_32_le', 'utf_32_be')},
}
{name: [encode(text) for text in input_data] for name, encode in encoders.items()}`

const members = Object.entries(javascript).map(
  ([name, encode]) => `${JSON.stringify(name)}: ${String(encode)}`,
)
const javascriptProgram = `
const encoders = { ${members.join(',\n')} }
Object.fromEntries(Object.entries(encoders).map(([name, encode]) => [name, input.map(encode)]))`

/**
 * Programs that encode each of the texts of their input, by name of the encoder. Node needs none: the tests themselves run
 * there.
 */
export const encodingGuests: Readonly<Record<string, RunRequest>> = {
  Bun: { ...bun, code: javascriptProgram },
  Python: { ...python, code: pythonProgram },
}
