/** Lines of earlier sessions, in a file of the user's state folder that nobody else can read. */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { ContextLanguage } from '../../../core/work.ts'

export const historyLinesMax = 1000
const fileBytesMax = 1024 * 1024
// oxlint-disable-next-line no-control-regex -- a terminal obeys them, and others may have written the file.
const control = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

export class HistoryFile {
  readonly path: string

  constructor(language: ContextLanguage) {
    const { XDG_STATE_HOME: named = '' } = process.env
    const state = isAbsolute(named) ? named : join(homedir(), '.local', 'state')
    this.path = join(state, 'lazaret', `repl-${language}.history`)
  }

  /** The newest first. Empty if there is no history file, or if it is not this user's. */
  read(): string[] {
    let descriptor: number
    try {
      descriptor = openSync(this.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    } catch {
      return []
    }
    try {
      const facts = fstatSync(descriptor)
      if (!facts.isFile() || facts.uid !== process.getuid?.() || facts.size > fileBytesMax) return []
      const lines = readFileSync(descriptor, 'utf8').split('\n').filter(isKept)
      return lines.slice(-historyLinesMax).toReversed()
    } finally {
      closeSync(descriptor)
    }
  }

  /** The newest first. Throws what the file system throws. */
  write(lines: readonly string[]): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    const text = lines.filter(isKept).slice(0, historyLinesMax).toReversed().join('\n')
    const fresh = `${this.path}.${process.pid}`
    writeFileSync(fresh, `${text}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(fresh, this.path)
  }
}

/** As in a shell, a line that begins with a space is not kept. */
export function isKept(line: string): boolean {
  return line.trim() !== '' && !line.startsWith(' ') && !control.test(line)
}
