/** Lists of tokens, and whose token a header has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { findClient, parseTokens } from '../../../src/adapters/http/bearer-tokens.ts'

const [ada, bob] = ['ada-0123456789abcdef', 'bob-0123456789abcdef']
const entries = parseTokens(`# ours\n\nada:${ada}\n  bob:${bob}\n`)

test('a header has the name of its token', () => {
  assert.equal(findClient(entries, `Bearer ${ada}`), 'ada')
  assert.equal(findClient(entries, `bearer   ${bob} `), 'bob')
})

test('any other header has none', () => {
  const parts = [ada.slice(0, -1), `${ada}x`, ada.toUpperCase(), `${ada} ${bob}`, `${ada},${bob}`, '']
  const headers = [undefined, '', ada, `Basic ${ada}`, ...parts.map((part) => `Bearer ${part}`)]
  for (const header of headers) assert.equal(findClient(entries, header), undefined, header)
})

test('the error for a wrong list names the line, and never has a token', () => {
  const wrong: Readonly<Record<string, RegExp>> = {
    [`ada:${ada}\n${bob}`]: /^line 2 /,
    [`ada:${ada}\nbob ${bob}`]: /^line 2 /,
    [`ada:${ada} ${bob}`]: /^line 1 /,
    'ada:sesame': / line 1 .* 16 /,
    [`ada:${ada}\nbob:${ada}`]: /twice/,
    '# nothing': /no tokens/,
  }
  for (const [text, message] of Object.entries(wrong))
    assert.throws(
      () => parseTokens(text),
      (error: Error) => message.test(error.message) && !/0123456789abcdef|sesame/.test(error.message),
      text,
    )
})
