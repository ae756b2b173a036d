/**
 * Watches the processes of a pass from outside. One in which no test starts or ends for a minute is described at once; after
 * five minutes it is ended, or Node's runner would report no later process. One that hangs at its exit is ended sooner: there
 * the main thread can wait for a thread of V8 that waits for the main thread (nodejs/node#54918).
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describeProcess } from './describe-process.ts'
import { kill } from './end-processes.ts'
import { startOf } from './process-notes.ts'
import type { ProcessNote } from './process-notes.ts'

export interface Patience {
  /** A quiet process is described after this time. */
  readonly describeMs: number
  /** Longer than any test, hook or loading of a file may take. */
  readonly endMs: number
  /** Longer than what tests do in listeners of `exit`. */
  readonly exitMs: number
  readonly lookEveryMs: number
}

export const patience: Patience = {
  describeMs: Number(process.env['LAZARET_TESTS_DESCRIBE_MS'] ?? 60_000),
  endMs: 5 * 60_000,
  exitMs: 2 * 60_000,
  lookEveryMs: 5000,
}

/** Returns what stops it. */
export function watchProcesses(
  folder: string,
  limits = patience,
  print: (text: string) => void = (text) => process.stdout.write(text),
): () => void {
  const described = new Set<string>()
  const timer = setInterval(() => {
    const names = readdirSync(folder)
    for (const name of names.filter((one) => one.endsWith('.evidence')))
      printEvidence(join(folder, name), print)
    for (const name of names.filter((one) => /^\d+$/.test(one)))
      look(folder, name, { limits, described, print })
  }, limits.lookEveryMs)
  return () => clearInterval(timer)
}

interface Watch {
  readonly limits: Patience
  /** Each silence is described once. */
  readonly described: Set<string>
  readonly print: (text: string) => void
}

function look(folder: string, name: string, { limits, described, print }: Watch): void {
  const [path, pid] = [join(folder, name), Number(name)]
  const { started, state, file } = JSON.parse(readFileSync(path, 'utf8')) as ProcessNote
  if (startOf(pid) !== started) return rmSync(path)
  const { mtimeMs } = statSync(path)
  const quietMs = Date.now() - mtimeMs
  const says = (what: string) => print(`✖ ${file} (process ${pid}): ${what}\n`)
  if (state === 'exiting') {
    if (quietMs < limits.exitMs) return
    says(`has hung at its exit for ${seconds(quietMs)} s, and is ended.\n${describeProcess(pid)}`)
  } else {
    const silence = `${name} ${mtimeMs}`
    if (quietMs >= limits.describeMs && !described.has(silence)) {
      described.add(silence)
      says(`no test has started or ended for ${seconds(quietMs)} s.\n${describeProcess(pid)}`)
    }
    if (quietMs < limits.endMs) return
    says(`no test has started or ended for ${seconds(quietMs)} s, and is ended.`)
  }
  rmSync(path)
  kill(pid)
}

function printEvidence(path: string, print: (text: string) => void): void {
  print(readFileSync(path, 'utf8'))
  rmSync(path)
}

const seconds = (ms: number): number => Math.round(ms / 1000)
