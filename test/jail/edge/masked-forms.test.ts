/** The forms of a secret that are masked, and those that are not: the table of docs/guide/networks.md, case by case. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'

import { Masker, maskText } from '../../../src/jail/edge/secrets/masker.ts'
import { HiddenValues } from '../../../src/jail/edge/secrets/hidden-values.ts'

const value = `k&<"'>/e y+${'Zq9'.repeat(4)}`
const hidden = new HiddenValues([value])

const asBase64 = (text: string) => Buffer.from(text).toString('base64')
const asHex = (text: string) => Buffer.from(text).toString('hex')
const inEntities = (text: string) =>
  text
    .split('')
    .map((one) => `&#${one.charCodeAt(0)};`)
    .join('')
const inEscapes = (text: string) =>
  text
    .split('')
    .map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
const inPercents = (text: string) => asHex(text).replaceAll(/../g, '%$&')

const masked: Readonly<Record<string, string>> = {
  'the value': value,
  'in capitals': value.toUpperCase(),
  'in a URL': encodeURIComponent(value),
  'in a form': new URLSearchParams([['', value]]).toString().slice(1),
  'percent-encoded twice': encodeURIComponent(encodeURIComponent(value)),
  'letters percent-encoded that need no encoding': inPercents(value),
  'in JSON': JSON.stringify(value).slice(1, -1),
  'in JSON with all characters escaped': inEscapes(value),
  'in HTML': value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  'in HTML with all characters as numbers': inEntities(value),
  'as numbers with leading zeros': inEntities(value).replaceAll('#', '#0000'),
  'in UTF-16': Buffer.from(inEscapes(value), 'utf16le').subarray(0, -1).toString('latin1'),
  'in hexadecimal': asHex(value),
  'in hexadecimal with colons': asHex(value).replaceAll(/..(?!$)/g, '$&:'),
  'as numbers with commas': Buffer.from(value).join(','),
  'in quoted-printable, with broken lines': value.replaceAll(/[&"=]/g, (one) => `=${asHex(one)}=\r\n`),
}
for (const [form, text] of Object.entries(masked))
  test(`masked: ${form}`, () => {
    assert.equal(maskText(`a ${text} b`, hidden), `a ${text.replaceAll(/[^\r\n\0]/g, '*')} b`)
  })

test('masked: in base64 with line breaks, also as escapes of JSON', () => {
  for (const end of ['\n', '\r\n', '\\n', '\\r\\n']) {
    const text = asBase64(value.repeat(4)).replaceAll(/.{76}/g, `$&${end}`)
    assert.match(maskText(`a ${text} b`, hidden), /^a (?:[*\r\n]{20,}.?)+=* b$/)
  }
})

test('masked: in base64 and base64url at any position, but for a character at each end', () => {
  for (const before of ['', 'a', 'ab', 'abc'])
    for (const coding of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${before}${value}zz`).toString(coding)
      const start = Math.ceil((before.length * 8) / 6)
      const end = Math.floor(((before.length + value.length) * 8) / 6)
      const shown = text.slice(0, start) + '*'.repeat(end - start) + text.slice(end)
      assert.equal(maskText(text, hidden), shown)
    }
})

const unmasked: Readonly<Record<string, string>> = {
  reversed: value.split('').toReversed().join(''),
  'with other characters between its own': value.split('').join('-'),
  'without its first character': value.slice(1),
  'without its last character': value.slice(0, -1),
  'percent-encoded three times': encodeURIComponent(encodeURIComponent(encodeURIComponent(value))),
  'in HTML of HTML of HTML': value.replaceAll('&', '&amp;amp;amp;'),
  'in base64 of its form in a URL': asBase64(encodeURIComponent(value)),
  'in base64 of base64': asBase64(asBase64(value)),
  'in base64 with indentation': asBase64(value).replaceAll(/.{8}/g, '$&\n  '),
  'in hexadecimal with spaces': asHex(value).replaceAll(/../g, '$& '),
  'as numbers with spaces': Buffer.from(value).join(', '),
  'in another coding': value.replaceAll(
    /[a-z]/gi,
    (one) => 'nopqrstuvwxyzabcdefghijklm'['abcdefghijklmnopqrstuvwxyz'.indexOf(one.toLowerCase())] ?? '',
  ),
  'in UTF-7': value.replace('&', '+ACY-'),
  'with one name for two characters': value.replace('>/', '&gtsol;'),
  'as a hash': createHash('sha256').update(value).digest('hex'),
  'in two strings': `["${value.slice(0, 9)}","${value.slice(9)}"]`,
  'in words of mail': `=?utf-8?q?${value.slice(0, 9)}?= =?utf-8?q?${value.slice(9)}?=`,
}
for (const [form, text] of Object.entries(unmasked))
  test(`not masked: ${form}`, () => {
    assert.equal(maskText(text, hidden), text)
  })

test('not masked: in short lines of base64 that arrive one by one', () => {
  const masker = new Masker(hidden)
  const lines = asBase64(value)
    .replaceAll(/.{8}/g, '$&\n')
    .split(/(?<=\n)/)
  const shown = [...lines.map((line) => masker.push(Buffer.from(line))), masker.end()]
  assert.ok(Buffer.concat(shown).toString().startsWith(lines.slice(0, -1).join('')))
})

test('not masked: more than 18 bytes for each character', () => {
  const text = inEntities(value).replaceAll('#', `#${'0'.repeat(20)}`)
  assert.ok(maskText(text, hidden).startsWith(text.slice(0, 20)))
})
