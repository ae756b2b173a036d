/**
 * How libraries encode a text, without the quotes around it: JavaScript's own functions, and the rules of the libraries of
 * languages that are not here.
 */

type Encoders = Readonly<Record<string, (text: string) => string>>

/** Each stands by itself: guests get its source. The result has one character for each byte. */
export const javascript: Encoders = {
  encodeURIComponent: (text) => encodeURIComponent(text),
  encodeURI: (text) => encodeURI(text),
  'encodeURIComponent twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  escape: (text) => escape(text),
  URLSearchParams: (text) => new URLSearchParams([['', text]]).toString().slice(1),
  'query of a URL': (text) => Object.assign(new URL('https://h/'), { search: `x${text}` }).search.slice(2),
  'fragment of a URL': (text) => Object.assign(new URL('https://h/'), { hash: `x${text}` }).hash.slice(2),
  'user of a URL': (text) => Object.assign(new URL('https://h/'), { username: text }).username,
  'JSON.stringify': (text) => JSON.stringify(text).slice(1, -1),
  'JSON.stringify twice': (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  'JSON.stringify of a Buffer': (text) => JSON.stringify([...Buffer.from(text)]).slice(1, -1),
  'JSON.stringify in a URL': (text) => encodeURIComponent(JSON.stringify(text).slice(1, -1)),
  'RegExp.escape': (text) => (RegExp as { escape?: (text: string) => string }).escape?.(text) ?? text,
  'Buffer in hex': (text) => Buffer.from(text).toString('hex'),
  'Buffer in base64': (text) => Buffer.from(text).toString('base64'),
  'Buffer in base64url': (text) => Buffer.from(text).toString('base64url'),
  'base64 in a URL': (text) => encodeURIComponent(Buffer.from(text).toString('base64')),
  'UTF-16': (text) => Buffer.from(text, 'utf16le').toString('latin1'),
  'UTF-16, big-endian': (text) => Buffer.from(text, 'utf16le').swap16().toString('latin1'),
  'JSON in UTF-16': (text) => Buffer.from(JSON.stringify(text).slice(1, -1), 'utf16le').toString('latin1'),
}

const escapeSome = (text: string, some: RegExp, form: (code: number, char: string) => string) =>
  text.replaceAll(some, (char) => form(char.charCodeAt(0), char))
const percent = (code: number) => `%${code.toString(16).padStart(2, '0').toUpperCase()}`
const unicode = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`
const backslash = (_: number, char: string) => `\\${char}`
const inForm = (text: string, encoded: RegExp) => escapeSome(text, encoded, percent).replaceAll('%20', '+')
const inHtml = (text: string, { double, single }: { double: string; single: string }) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', double)
    .replaceAll("'", single)
const inLines = (text: string, { length, end }: { length: number; end: string }) =>
  text.replaceAll(new RegExp(`.{${length}}(?!$)`, 'g'), `$&${end}`)
const inBase64 = (text: string) => Buffer.from(text).toString('base64')
const inHex = (text: string) => Buffer.from(text).toString('hex')

const phpForm = (text: string) => inForm(text, /[^\w.-]/g)
const phpJson = (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')
const phpEntities: Readonly<Record<string, string>> = {
  '!': 'excl',
  '"': 'quot',
  '#': 'num',
  $: 'dollar',
  '%': 'percnt',
  '&': 'amp',
  "'": 'apos',
  '(': 'lpar',
  ')': 'rpar',
  '*': 'ast',
  '+': 'plus',
  ',': 'comma',
  '.': 'period',
  '/': 'sol',
  ':': 'colon',
  ';': 'semi',
  '<': 'lt',
  '=': 'equals',
  '>': 'gt',
  '?': 'quest',
  '@': 'commat',
  '[': 'lbrack',
  '\\': 'bsol',
  ']': 'rsqb',
  '^': 'Hat',
  _: 'lowbar',
  '`': 'grave',
  '{': 'lbrace',
  '|': 'vert',
  '}': 'rcub',
}

export const rules: Encoders = {
  'Java: URLEncoder': (text) => inForm(text, /[^\w.*-]/g),
  'Java: HtmlUtils of Spring': (text) => inHtml(text, { double: '&quot;', single: '&#39;' }),
  'Java: Encode.forHtml of OWASP': (text) => inHtml(text, { double: '&#34;', single: '&#39;' }),
  'Java: encodeForHTML of ESAPI': (text) =>
    escapeSome(text, /[^\w.,-]/g, (code) => `&#x${code.toString(16)};`),
  'Java: StringEscapeUtils.escapeHtml4': (text) => inHtml(text, { double: '&quot;', single: "'" }),
  'Java: StringEscapeUtils.escapeXml11': (text) => inHtml(text, { double: '&quot;', single: '&apos;' }),
  'Java: StringEscapeUtils.escapeJava': (text) => escapeSome(text, /["\\]/g, backslash),
  'Java: StringEscapeUtils.escapeEcmaScript': (text) => escapeSome(text, /["'\\/]/g, backslash),
  'Java: Encode.forJavaScript of OWASP': (text) =>
    escapeSome(text.replaceAll('\\', '\\\\'), /["'&]/g, (code) => `\\x${code.toString(16)}`).replaceAll(
      '/',
      '\\/',
    ),
  'Java: Gson': (text) => escapeSome(JSON.stringify(text).slice(1, -1), /[<>&='/]/g, unicode),
  'Java: Properties': (text) => escapeSome(text, /[ #!=:\\]/g, backslash),
  'Java: MIME encoder': (text) => inLines(inBase64(text), { length: 76, end: '\r\n' }),
  'Java: HexFormat with colons': (text) =>
    inHex(text)
      .toUpperCase()
      .replaceAll(/..(?!$)/g, '$&:'),
  'PHP: urlencode': phpForm,
  'PHP: rawurlencode': (text) => escapeSome(text, /[^\w.~-]/g, percent),
  'PHP: urlencode twice': (text) => phpForm(phpForm(text)),
  'PHP: htmlspecialchars': (text) => inHtml(text, { double: '&quot;', single: '&#039;' }),
  'PHP: htmlspecialchars twice': (text) =>
    inHtml(inHtml(text, { double: '&quot;', single: '&#039;' }), { double: '', single: '' }),
  'PHP: htmlentities of HTML 5': (text) =>
    escapeSome(text, /[^\w ~-]|_/g, (_, char) => `&${phpEntities[char]};`),
  'PHP: json_encode': phpJson,
  'PHP: json_encode with HEX flags': (text) =>
    escapeSome(phpJson(text).replaceAll('\\"', unicode(0x22)), /[<>&']/g, unicode),
  'PHP: json_encode of base64_encode': (text) => phpJson(inBase64(text)),
  'PHP: json_encode of chunk_split': (text) => phpJson(inLines(inBase64(text), { length: 76, end: '\r\n' })),
  'PHP: json_encode of htmlspecialchars': (text) =>
    phpJson(inHtml(text, { double: '&quot;', single: '&#039;' })),
  'PHP: addslashes': (text) => escapeSome(text, /['"\\]/g, backslash),
  'PHP: escapeshellarg': (text) => text.replaceAll("'", String.raw`'\''`),
  'PHP: bin2hex': inHex,
  'Go: json.Marshal': (text) => escapeSome(JSON.stringify(text).slice(1, -1), /[<>&]/g, unicode),
  'Go: json.Marshal of html.EscapeString': (text) =>
    escapeSome(
      inHtml(text, { double: '&#34;', single: '&#39;' }).replaceAll('\\', '\\\\'),
      /[<>&]/g,
      unicode,
    ),
  'Go: url.QueryEscape': (text) => inForm(text, /[^\w.~-]/g),
  'Go: html.EscapeString': (text) => inHtml(text, { double: '&#34;', single: '&#39;' }),
  '.NET: WebUtility.UrlEncode': (text) => inForm(text, /[^\w.!*()-]/g),
  '.NET: HttpUtility.UrlEncode': (text) =>
    inForm(text, /[^\w.!*()-]/g).replaceAll(/%../g, (one) => one.toLowerCase()),
  '.NET: System.Text.Json': (text) =>
    escapeSome(text, /["&'+<>`\\]/g, (code, char) =>
      char === '\\' ? '\\\\' : unicode(code).toUpperCase().replace('U', 'u'),
    ),
  '.NET: BitConverter': (text) =>
    inHex(text)
      .toUpperCase()
      .replaceAll(/..(?!$)/g, '$&-'),
  'Ruby: CGI.escape': (text) => inForm(text, /[^\w.~*-]/g),
  'SQL and CSV': (text) => text.replaceAll("'", "''").replaceAll('"', '""'),
  'LDAP filter': (text) => escapeSome(text, /[\\*()]/g, (code) => `\\${code.toString(16).padStart(2, '0')}`),
  'Bash: printf %q': (text) => escapeSome(text, /[^\w.,:/@%+=-]/g, backslash),
  'Git: octal escapes': (text) =>
    escapeSome(text, /[^\w]/g, (code) => `\\${code.toString(8).padStart(3, '0')}`),
  'PEM: lines of 64': (text) => inLines(inBase64(text), { length: 64, end: '\n' }),
}
