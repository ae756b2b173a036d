/** Reads facts out of the launcher's C text, for tests that compare the two sides. */
import { readFileSync } from 'node:fs'

export function readSource(name: string): string {
  return readFileSync(new URL(`../../native/cell/${name}`, import.meta.url), 'utf8')
}

/** Members of enums, by name: `NAME = 12` and `NAME = 1 << 20`. */
export function readEnums(text: string): Readonly<Record<string, number>> {
  const members = text.matchAll(/^\s*([A-Z][A-Z0-9_]*) = (\d+)(?: << (\d+))?[,;]?/gm)
  return Object.fromEntries(
    [...members].map(([, name = '', value, shift = '0']) => [name, Number(value) * 2 ** Number(shift)]),
  )
}
