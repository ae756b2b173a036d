/**
 * What the processes of a pass note in a folder, so that the runner sees from outside which of them are stuck: a file for each,
 * named after its pid, touched whenever a test starts or ends. Inside a blocked process no timer runs.
 */
import { readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folderVariable = 'LAZARET_TESTS_NOTES'

export type ProcessState = 'running' | 'exiting'

export interface ProcessNote {
  /** When the process started, which distinguishes it from later ones with its id: field 22 of /proc/pid/stat, see proc(5). */
  readonly started: string
  readonly state: ProcessState
  /** The test file, or the file that runs several. */
  readonly file: string
}

/** The variable by which test processes find the folder. */
export const notesVariable = (folder: string): Record<string, string> => ({ [folderVariable]: folder })

/** The note of this process, or undefined if nobody watches it. */
export class OwnNote {
  readonly #path: string
  readonly #note: Omit<ProcessNote, 'state'>

  static open(file: string): OwnNote | undefined {
    const folder = process.env[folderVariable]
    return folder === undefined ? undefined : new OwnNote(folder, file)
  }

  private constructor(folder: string, file: string) {
    this.#path = join(folder, String(process.pid))
    this.#note = { started: startOf(process.pid) ?? '', file }
    this.#write('running')
    process.once('exit', () => this.#write('exiting'))
  }

  /** Something has happened in this process. */
  touch(): void {
    const now = new Date()
    utimesSync(this.#path, now, now)
  }

  /** Evidence that only this process has; the runner prints it at once. */
  say(evidence: string): void {
    writeFileSync(`${this.#path}.evidence.new`, evidence)
    renameSync(`${this.#path}.evidence.new`, `${this.#path}.evidence`)
  }

  #write(state: ProcessState): void {
    const note: ProcessNote = { ...this.#note, state }
    writeFileSync(`${this.#path}.new`, JSON.stringify(note))
    renameSync(`${this.#path}.new`, this.#path)
  }
}

/** Undefined if the process has ended. */
export function startOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
  } catch {
    return undefined
  }
}
