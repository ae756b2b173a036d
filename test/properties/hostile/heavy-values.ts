/** Forged values of the maximum message size. */
import { anything, type HostileRow, nothing } from './hostile-value.ts'

const cut = { isCut: true }
const mostBytes = 16 * 1024 * 1024
const repeat = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join()

export const heavyValues: readonly HostileRow[] = [
  ['one list more than there may be', `[${repeat(2 ** 20, () => '[]')}]`, nothing, cut],
  ['a million objects', `[${repeat(999_998, () => '{"a":1}')}]`, anything],
  ['200,000 keys', `{${repeat(200_000, (index) => `"k${index}":0`)}}`, anything],
  ['a million keys', `{${repeat(1_000_000, (index) => `"k${index}":0`)}}`, nothing, cut],
  ['a million numeric keys', `{${repeat(1_000_000, (index) => `"${index * 7919}":0`)}}`, nothing, cut],
  ['four million numbers', `[${repeat(4_000_000, () => '1')}]`, anything],
  ['eight million numbers', `[${repeat(8_000_000, () => '1')}]`, nothing, cut],
  ['three million texts', `[${repeat(3_000_000, () => '"ab"')}]`, anything],
  ['250,000 holes', `[${repeat(250_000, () => '{"$type":"hole"}')}]`, anything],
  ['900,000 holes', `[${repeat(900_000, () => '{"$type":"hole"}')}]`, nothing, cut],
  ['250,000 buffers', `[${repeat(250_000, () => '{"$type":"DataView","value":""}')}]`, anything],
  ['400,000 buffers', `[${repeat(400_000, () => '{"$type":"DataView","value":""}')}]`, nothing, cut],
  ['a text of the largest size', `"${'x'.repeat(mostBytes - 2)}"`, anything],
  ['a text one byte longer', `"${'x'.repeat(mostBytes - 1)}"`, nothing, cut],
]
