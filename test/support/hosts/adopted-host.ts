/**
 * A host process that a test may kill: a program such as mortal-host.ts, started by adopt.c, which sees its orphans.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

import type { RunNews } from './mortal-host.ts'
import { findProcess, listDescendants, listProcesses } from '../machine/processes.ts'
import type { HostProcess } from '../machine/processes.ts'

export interface HostPlan {
  /** The path of the compiled adopt.c. */
  readonly adopt: string
  /** A file for this Node, and its arguments. It prints `ready`, and then its news, one line of JSON each. */
  readonly program: readonly string[]
  /** Its TMPDIR. */
  readonly folder: string
  /** Precedes its command, so that it starts on a machine that lacks something. */
  readonly prefix: readonly string[]
  /** The uid that it runs as, if not the test's. */
  readonly userId?: number
}

export function compileAdopt(folder: string): string {
  const program = join(folder, 'adopt')
  const source = join(import.meta.dirname, 'adopt.c')
  execFileSync('cc', ['-O1', '-Wall', '-Wextra', '-Werror', '-o', program, source], { stdio: 'inherit' })
  return program
}

export class AdoptedHost implements AsyncDisposable {
  readonly pid: Promise<number>
  /** Rejects if the host ends before its first run does. */
  readonly ready: Promise<void>
  /** The time from the last signal until the last process of the host and its cells had ended, in microseconds. */
  readonly alone: Promise<number>
  readonly news: RunNews[] = []
  /** The wait(2) status of the host process itself. */
  status: number | undefined
  readonly #adopter: ChildProcess

  constructor({ adopt, program, folder, prefix, userId }: HostPlan) {
    const asUser = join(import.meta.dirname, '../../../scripts/testing/as-user.ts')
    const command = [...prefix, process.execPath, ...program]
    const words = userId === undefined ? command : [process.execPath, asUser, String(userId), ...command]
    this.#adopter = spawn(adopt, words, {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
      env: { ...process.env, TMPDIR: folder },
    })
    const pid = Promise.withResolvers<number>()
    const alone = Promise.withResolvers<number>()
    const ready = Promise.withResolvers<void>()
    for (const { promise } of [pid, alone, ready]) promise.catch(() => undefined)
    readLines(this.#adopter.stdout, (line) => {
      const [word, number] = [line.split(' ')[0], Number(line.split(' ')[1])]
      if (word === 'started') pid.resolve(number)
      else if (word === 'ended') this.status = number
      else if (word === 'alone') alone.resolve(number)
    })
    readLines(this.#adopter.stdio[3] as Readable, (line) => {
      if (line === 'ready') ready.resolve()
      else this.news.push(JSON.parse(line) as RunNews)
    })
    this.#adopter.once('close', () => {
      const lost = new Error('The host ended without a word.')
      for (const { reject } of [pid, alone, ready]) reject(lost)
    })
    this.pid = pid.promise
    this.alone = alone.promise
    this.ready = ready.promise
  }

  /** The pid of adopt.c's process: everything that is left of the host is below it. */
  get adopterPid(): number {
    return this.#adopter.pid as number
  }

  kill(): void {
    ;(this.#adopter.stdin as Writable).write('k')
  }

  /** Sends SIGTERM, so that it ends its runs and itself. */
  stop(): void {
    ;(this.#adopter.stdin as Writable).write('t')
  }

  /** Kills what a failed test has left alive. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#adopter.exitCode !== null) return
    const closed = new Promise((resolve) => this.#adopter.once('close', resolve))
    for (const { pid } of listDescendants(this.adopterPid)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has already ended.
      }
    }
    await closed
  }
}

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  // A killed host may leave an incomplete line.
  createInterface({ input: stream as Readable }).on('line', (line) => {
    if (/^(\w+( -?\d+)?|\{.*\})$/.test(line)) onLine(line)
  })
}

/**
 * Where the kernel lists children, this does not scan all of /proc, because callers poll it often for new processes.
 */
export function listChildren(parent: number): HostProcess[] {
  try {
    const pids = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ')
    return pids.flatMap((pid) => (pid === '' ? [] : (findProcess(Number(pid)) ?? [])))
  } catch {
    return findProcess(parent) === undefined ? [] : listProcesses().filter((one) => one.parent === parent)
  }
}
