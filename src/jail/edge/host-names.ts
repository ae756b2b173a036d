/** Names of hosts in one form: ASCII, in lower case. */
import { domainToASCII } from 'node:url'

const nameLengthMax = 253
const labelForm = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** A name whose last label is a decimal or hexadecimal number: programs read it as an address. */
const numericEnd = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/

/** Whether a text is a name in this form. */
export function isHostName(name: string): boolean {
  if (name.length === 0 || name.length > nameLengthMax || numericEnd.test(name)) return false
  return name.split('.').every((label) => labelForm.test(label))
}

/** Converts a name into this form; Unicode and a final dot are accepted. Undefined if it is not a host name. */
export function toHostName(written: string): string | undefined {
  const bare = written.endsWith('.') ? written.slice(0, -1) : written
  // An ASCII name must not become an address by the conversion, as `0x7f.1` would.
  const ascii = /^[\x21-\x7e]*$/.test(bare) ? bare.toLowerCase() : domainToASCII(bare)
  return isHostName(ascii) ? ascii : undefined
}

/** A guest's text for a report, without characters that cannot be part of a name. */
export function printableName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._:-]/g, '?').slice(0, nameLengthMax)
}
