/** `--json`: one document, on one line. */
import type { RunResult } from '../../core/result.ts'

/** The result with its value tagged and its files as base64. */
export function toResultDocument(result: RunResult): unknown {
  const { value: _live, valueTagged, files, ...rest } = result
  return {
    ...rest,
    ...(valueTagged === undefined ? {} : { value: valueTagged }),
    files: toFilesDocument(files),
  }
}

/** What a guest calls a file proves nothing about what is in it, so no type is guessed from its name. */
export function toFilesDocument(files: RunResult['files']): unknown {
  return Object.fromEntries(
    Object.entries(files).map(([path, bytes]) => [
      path,
      { mime: 'application/octet-stream', base64: Buffer.from(bytes).toString('base64') },
    ]),
  )
}

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
