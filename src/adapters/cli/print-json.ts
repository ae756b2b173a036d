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

/** JSON leaves C1 controls and delete as they are, and a terminal may obey them: they are written as escapes too. */
export function toJsonLine(document: unknown): string {
  return JSON.stringify(document).replace(
    // eslint-disable-next-line no-control-regex
    /[\x7f-\x9f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
