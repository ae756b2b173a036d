/**
 * What a run produced besides text: its collected files and the pictures it displayed, as files in `--output-dir`.
 */
import type { RunResult } from '../../../core/result.ts'
import type { OutputFolder } from './output-folder.ts'
import { toSingleLine } from './terminal-text.ts'

/** Pictures, by MIME type: the file extension, and whether the text is base64. */
const pictures: Readonly<Record<string, { readonly ending: string; readonly isBase64: boolean }>> = {
  'image/png': { ending: 'png', isBase64: true },
  'image/jpeg': { ending: 'jpg', isBase64: true },
  'image/gif': { ending: 'gif', isBase64: true },
  'image/webp': { ending: 'webp', isBase64: true },
  'image/svg+xml': { ending: 'svg', isBase64: false },
  'application/pdf': { ending: 'pdf', isBase64: true },
}

export const pictureTypes: ReadonlySet<string> = new Set(Object.keys(pictures))

export interface WrittenOutputs {
  /** What to tell the user, one line each. */
  readonly lines: readonly string[]
  readonly isComplete: boolean
}

/** EX_CANTCREAT of sysexits.h. */
export const cannotCreateExitCode = 73

/** The most names that are listed: a guest can create ten thousand. */
const namedMax = 50

/** The parts of a result that are written; a command has no displays. */
type Outputs = Pick<RunResult, 'displays' | 'files' | 'executables' | 'folders'>

export async function writeOutputs(result: Outputs, folder: OutputFolder): Promise<WrittenOutputs> {
  const written: string[] = []
  const failed: string[] = []
  const executables = new Set(result.executables)
  const note = (path: string, problem: string | undefined): void => {
    const shown = toSingleLine(`${folder.path}/${path}`)
    if (problem === undefined) written.push(`wrote ${shown}`)
    else failed.push(`could not write ${shown}: ${problem}.`)
  }
  for (const [path, content] of [...Object.entries(result.files), ...namePictures(result)])
    note(path, await folder.write(path, content, executables.has(path)))
  for (const path of result.folders) note(`${path}/`, await folder.makeFolder(path))
  return { lines: [...shorten(written), ...shorten(failed)], isComplete: failed.length === 0 }
}

/** The guest's own exit code, unless it is 0 and something could not be written. */
export function exitCodeWith(written: WrittenOutputs | undefined, exitCode: number): number {
  return exitCode === 0 && written?.isComplete === false ? cannotCreateExitCode : exitCode
}

/** `display-1.png`, `display-2.svg`, in the order of display; names of collected files are skipped. */
export function namePictures({
  displays,
  files,
}: Pick<Outputs, 'displays' | 'files'>): [path: string, content: Uint8Array][] {
  const named: [string, Uint8Array][] = []
  let number = 0
  for (const bundle of displays) {
    for (const [type, text] of Object.entries(bundle)) {
      const picture = Object.hasOwn(pictures, type) ? pictures[type] : undefined
      if (picture === undefined) continue
      let name: string
      do name = `display-${++number}.${picture.ending}`
      while (Object.hasOwn(files, name))
      named.push([name, Buffer.from(text, picture.isBase64 ? 'base64' : 'utf8')])
    }
  }
  return named
}

function shorten(lines: readonly string[]): string[] {
  if (lines.length <= namedMax) return [...lines]
  return [...lines.slice(0, namedMax), `and ${lines.length - namedMax} more.`]
}
