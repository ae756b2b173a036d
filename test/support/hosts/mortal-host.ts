/**
 * A host process for tests that kill it: it executes runs of every kind, several at once, until SIGTERM. It prints
 * `ready` when the first has ended, and then a line of JSON for each run's end.
 *
 * Usage: mortal-host.ts <seed> <first id> <ids>
 */
import { existsSync } from 'node:fs'
import { LazaretError } from '../../../src/index.ts'
import { createLazaret } from '../create-lazaret.ts'
import type { RunRequest } from '../../../src/index.ts'
import { seededRandom } from '../seeded-random.ts'

/** The host's report of one run. */
export interface RunNews {
  /** LAZARET_TOKEN in the environment of every process in its cell. */
  readonly token: string
  readonly name: string
  /** The kind of outcome, or the code of the thrown error. */
  readonly end: string
  /** The message of the thrown error. */
  readonly why?: string
}

const [seed = 0, first = 0, count = 0] = process.argv.slice(2).map(Number)
const shell = { language: 'shell' } as const
const python = { language: 'python' } as const
const bun = { runtime: 'bun', language: 'javascript' } as const

const inFlight = 4
/** Short, so that at any moment one cell is being built, one is running and one is ending. */
const wallMs = 150

const programs: Record<string, RunRequest> = {
  'shell that forks': {
    ...shell,
    code: `trap '' TERM HUP; for i in 1 2 3 4 5; do (setsid sh -c 'trap "" TERM; sleep 60' &) ; sleep 60 & done; wait`,
  },
  'shell that writes files': {
    ...shell,
    code: 'i=0; while :; do i=$((i+1)); echo $i > file-$((i % 100)); mkdir -p d/$i; done',
  },
  'shell that floods': { ...shell, code: 'while :; do echo flood flood flood flood flood flood; done' },
  'shell that ends': { ...shell, code: 'echo done' },
  'python that forks': {
    ...python,
    code: 'import os, time\nfor _ in range(4):\n    os.fork()\nwhile True:\n    if os.fork() == 0: os._exit(0)\n    os.wait()',
  },
  'python that writes files': {
    ...python,
    code: 'n = 0\nwhile True:\n    n += 1\n    with open(f"/tmp/{n % 500}", "wb") as file: file.write(b"x" * 65536)',
  },
  'python that ends': { ...python, code: '6 * 7' },
  'bun that floods': { ...bun, code: 'for (;;) console.log("flood flood flood flood")' },
  'bun that starts programs': {
    ...bun,
    code: `const { spawn } = await import('node:child_process')
for (let i = 0; i < 6; i++) spawn('sleep', ['60'], { detached: true })
setInterval(() => {}, 1000)`,
  },
  'bun that ends': { ...bun, code: '6 * 7' },
}

const random = seededRandom(seed)
/**
 * Avoids the search for an interpreter behind a shim: if the host is killed during that, the shim's process is left
 * behind.
 */
const toolchains = existsSync('/usr/bin/python3') ? { python: '/usr/bin/python3' } : {}
const lazaret = createLazaret({ uidRange: { first, count }, toolchains })
const stop = new AbortController()
let runs = 0

await lazaret.run({ ...shell, code: ':' })
// The first run of Python probes the interpreter in a child of this process, which the test must not mistake for a
// launcher.
await lazaret.run({ ...python, code: '' })
process.once('SIGTERM', () => stop.abort())
say('ready') // the reader may send SIGTERM at once
await Promise.all(Array.from({ length: inFlight }, runOnAndOn))
await lazaret[Symbol.asyncDispose]()

async function runOnAndOn(): Promise<void> {
  const names = Object.keys(programs)
  while (!stop.signal.aborted) {
    const name = names[Math.floor(random() * names.length)] ?? 'shell that ends'
    const token = `${process.pid}-${++runs}`
    say(JSON.stringify({ token, name, ...(await runOnce(name, token)) } satisfies RunNews))
  }
}

async function runOnce(name: string, token: string): Promise<Pick<RunNews, 'end' | 'why'>> {
  const limits = { wallMs, processesMax: 32, memoryBytes: 256 * 1024 * 1024, outputBytes: 1024 * 1024 }
  try {
    const request = { ...programs[name], env: { LAZARET_TOKEN: token }, limits } as RunRequest
    const { outcome } = await lazaret.run(request)
    return { end: outcome.kind }
  } catch (error) {
    if (error instanceof LazaretError) return { end: error.code, why: error.message }
    throw error
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
