/** Reads constants from the launcher's C source, for tests that compare both sides. */
import { readFileSync } from 'node:fs'

import { listFiles, readText } from '../../support/sources/checkout.ts'

export function readSource(name: string): string {
  return readFileSync(new URL(`../../../native/cell/${name}`, import.meta.url), 'utf8')
}

/** The members of all enums in the launcher’s headers. */
export function readNumbers(): Readonly<Record<string, number>> {
  return readEnums(listFiles('native/cell', ['.h']).map(readText).join(''))
}

/** Members of enums, by name: `NAME = 12` and `NAME = 1 << 20`. */
export function readEnums(text: string): Readonly<Record<string, number>> {
  const members = text.matchAll(/(?<=[{,\n]\s*)([A-Z][A-Z0-9_]*) = (\d+)(?: << (\d+))?/g)
  return Object.fromEntries(
    [...members].map(([, name = '', value, shift = '0']) => [name, Number(value) * 2 ** Number(shift)]),
  )
}
