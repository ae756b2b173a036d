/** `--json`: one document, on one line. */
export function printJson(document: unknown): void {
  process.stdout.write(`${toJsonLine(document)}\n`)
}

/**
 * JSON does not escape some characters that a terminal may obey (C1 controls, delete), that end a line elsewhere (line
 * separators), or that reorder what a person reads (bidirectional controls). Here they are escaped, too.
 */
export function toJsonLine(document: unknown): string {
  return JSON.stringify(document).replace(
    // eslint-disable-next-line no-control-regex
    /[\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
