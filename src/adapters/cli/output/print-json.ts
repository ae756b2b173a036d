/** `--json`: one document, on one line. */
export function printJson(document: unknown): void {
  process.stdout.write(`${toJsonLine(document)}\n`)
}

/**
 * JSON leaves some characters as they are that a terminal may obey, that end a line elsewhere, or that turn around what
 * a person reads: C1 controls and delete, line separators, direction. They are written as escapes too.
 */
export function toJsonLine(document: unknown): string {
  return JSON.stringify(document).replace(
    // eslint-disable-next-line no-control-regex
    /[\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
