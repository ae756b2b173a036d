/** Names of hosts in one form: in lower case, and ASCII. */
import { domainToASCII } from 'node:url'

const nameLengthMax = 253
const labelForm = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** A last label of digits, or in hexadecimal: programs read such a name as an address. */
const numericEnd = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/

/** Whether it is a name in that form. */
export function isHostName(name: string): boolean {
  if (name.length === 0 || name.length > nameLengthMax || numericEnd.test(name)) return false
  return name.split('.').every((label) => labelForm.test(label))
}

/** The form of a name that somebody wrote, Unicode and a final dot included; undefined if it is none. */
export function toHostName(written: string): string | undefined {
  const bare = written.endsWith('.') ? written.slice(0, -1) : written
  // Without an encoding of its own it must not become an address on the way: `0x7f.1` would.
  const ascii = /^[\x21-\x7e]*$/.test(bare) ? bare.toLowerCase() : domainToASCII(bare)
  return isHostName(ascii) ? ascii : undefined
}

/** Text of a guest for a report: what could not be part of a name is left out. */
export function printableName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._:-]/g, '?').slice(0, nameLengthMax)
}
