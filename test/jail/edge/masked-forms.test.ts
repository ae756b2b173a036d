/** The forms of a secret that are masked, and those that are not: the table of docs/guide/networks.md, case by case. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'

import { maskText } from '../../../src/jail/edge/secrets/masker.ts'
import { hiddenForms } from '../../../src/jail/edge/secrets/placed-secrets.ts'

const value = `k&<"'>/e y+${'Zq9'.repeat(4)}`
const hidden = hiddenForms([{ placeholder: 'lazaret_x', value, places: ['header'] }])

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
  'in JSON': JSON.stringify(value).slice(1, -1),
  'in JSON of PHP': JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'),
  'in JSON of Go': JSON.stringify(value)
    .slice(1, -1)
    .replaceAll(/[&<>]/g, (one) => inEscapes(one)),
  'in HTML': value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  'in hexadecimal': asHex(value),
}
for (const [form, text] of Object.entries(masked))
  test(`masked: ${form}`, () => {
    assert.equal(maskText(`a ${text} b`, hidden), `a ${'*'.repeat(text.length)} b`)
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
  'percent-encoded twice': encodeURIComponent(encodeURIComponent(value)),
  'letters encoded that need no encoding': inPercents(value),
  'in JSON with all characters escaped': inEscapes(value),
  'in HTML with all characters as numbers': inEntities(value),
  'in base64 with line breaks': asBase64(value).replaceAll(/.{8}/g, '$&\n'),
  'in base64 of base64': asBase64(asBase64(value)),
  'in hexadecimal with separators': asHex(value).replaceAll(/../g, '$&:'),
  'as a hash': createHash('sha256').update(value).digest('hex'),
  'in UTF-16': Buffer.from(value, 'utf16le').toString('latin1'),
  'in two strings': `["${value.slice(0, 9)}","${value.slice(9)}"]`,
}
for (const [form, text] of Object.entries(unmasked))
  test(`not masked: ${form}`, () => {
    assert.equal(maskText(text, hidden), text)
  })
