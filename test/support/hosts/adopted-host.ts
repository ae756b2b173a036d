/** A host process that a test may kill, and whose orphans are seen: a program like mortal-host.ts below adopt.c. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

import type { RunNews } from './mortal-host.ts'
import { findProcess, listDescendants, listProcesses } from '../machine/processes.ts'
import type { HostProcess } from '../machine/processes.ts'

export interface HostPlan {
  /** Where adopt.c was compiled to. */
  readonly adopt: string
  /** A file for this Node, and its arguments. It says `ready`, and then news in lines of JSON. */
  readonly program: readonly string[]
  /** Its TMPDIR. */
  readonly folder: string
  /** Words before its command: it starts on a machine that lacks something. */
  readonly prefix: readonly string[]
  /** Who it runs as, where that is not who the test runs as. */
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
  /** Rejects when it ended before its first run did. */
  readonly ready: Promise<void>
  /** How many microseconds after the last signal the last process of it and of its cells had ended. */
  readonly alone: Promise<number>
  readonly news: RunNews[] = []
  /** wait(2)'s status of the host process itself. */
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

  /** Of the process that adopts: everything that is left of the host is below it. */
  get adopterPid(): number {
    return this.#adopter.pid as number
  }

  kill(): void {
    ;(this.#adopter.stdin as Writable).write('k')
  }

  /** Asks it to end its runs and itself. */
  stop(): void {
    ;(this.#adopter.stdin as Writable).write('t')
  }

  /** Whatever a failed test left alive. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#adopter.exitCode !== null) return
    const closed = new Promise((resolve) => this.#adopter.once('close', resolve))
    for (const { pid } of listDescendants(this.adopterPid)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
    }
    await closed
  }
}

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  // A host that is killed may leave half a line.
  createInterface({ input: stream as Readable }).on('line', (line) => {
    if (/^(\w+( -?\d+)?|\{.*\})$/.test(line)) onLine(line)
  })
}

/** Without a walk through all of /proc, where the kernel lists them: whoever waits for a birth looks often. */
export function listChildren(parent: number): HostProcess[] {
  try {
    const pids = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ')
    return pids.flatMap((pid) => (pid === '' ? [] : (findProcess(Number(pid)) ?? [])))
  } catch {
    return findProcess(parent) === undefined ? [] : listProcesses().filter((one) => one.parent === parent)
  }
}
