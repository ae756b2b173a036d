/** Runs that fail, are ended, or end themselves: each by its own limit and with its own outcome. */
import { deepEqual, equal, ok } from 'node:assert/strict'

import type { RunResult } from '../../src/index.ts'
import { bun, completes, node, pick, python, shell } from './case.ts'
import type { Dialect, Draft, Guest, Kind, Ticket } from './case.ts'

const MiB = 1024 * 1024
const plainGuests: readonly Guest[] = [shell, python, bun, node]

const exit: Record<Dialect, (code: number) => string> = {
  shell: (code) => `exit ${code}`,
  python: (code) => `raise SystemExit(${code})`,
  javascript: (code) => `process.exit(${code})`,
}

function exitCode({ dialect }: Guest, { index }: Ticket): Draft {
  const code = 1 + (index % 100)
  return {
    request: { code: exit[dialect](code) },
    check: ({ outcome }) => deepEqual(outcome, { kind: 'completed', exitCode: code }),
  }
}

const raise: Record<Dialect, (token: string) => string> = {
  shell: () => '',
  python: (token) => `print('before')\nraise ValueError('${token}')`,
  javascript: (token) => `console.log('before')\nthrow new RangeError('${token}')`,
}

function error({ dialect }: Guest, { token }: Ticket): Draft {
  return {
    request: { code: raise[dialect](token) },
    check: ({ outcome, stdout }) => {
      ok(outcome.kind === 'failed')
      deepEqual(
        [outcome.error.message, outcome.error.line, outcome.exitCode, stdout],
        [token, 2, 1, 'before\n'],
      )
    },
  }
}

function syntaxError({ dialect }: Guest): Draft {
  const code = dialect === 'python' ? 'x = 1\ndef' : 'const x = 1\nconst = 2'
  return {
    request: { code },
    check: ({ outcome }) => {
      ok(outcome.kind === 'syntax-error')
      equal(outcome.error.name, 'SyntaxError')
    },
  }
}

const hang: Record<Dialect, string> = {
  shell: 'sleep 100',
  python: 'import time; time.sleep(100)',
  javascript: 'await new Promise((resolve) => setTimeout(resolve, 100_000))',
}

function timeout({ dialect }: Guest, { random }: Ticket): Draft {
  const wallMs = 300 + pick(random, 300)
  return {
    request: { code: hang[dialect], limits: { wallMs } },
    check: ({ outcome, usage }) => {
      deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
      ok(usage.wallMs >= wallMs)
    },
  }
}

const burn: Record<Dialect, string> = {
  shell: 'while :; do :; done',
  python: 'while True: pass',
  javascript: 'for (;;);',
}

function processorTime({ dialect }: Guest, { random }: Ticket): Draft {
  const cpuMs = 100 + pick(random, 100)
  return {
    request: { code: burn[dialect], limits: { cpuMs, wallMs: 60_000 } },
    check: ({ outcome }) => deepEqual(outcome, { kind: 'timed-out', limit: 'cpu', limitMs: cpuMs }),
  }
}

const hoard: Record<Dialect, string> = {
  shell: 'exec tail /dev/zero',
  python: 'a = []\nwhile True: a.append(bytearray(1 << 20))',
  javascript: 'const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))',
}

function memory({ dialect }: Guest, { random }: Ticket): Draft {
  const memoryBytes = (96 + pick(random, 64)) * MiB
  return {
    request: { code: hoard[dialect], limits: { memoryBytes, diskBytes: 8 * MiB, wallMs: 60_000 } },
    check: ({ outcome }) => deepEqual(outcome, { kind: 'out-of-memory', limitBytes: memoryBytes }),
  }
}

const flood: Record<Dialect, string> = {
  shell: 'while :; do echo flood flood flood flood; done',
  python: 'while True: print("flood flood flood flood")',
  javascript: 'for (;;) console.log("flood flood flood flood")',
}

function output({ dialect }: Guest, { random }: Ticket): Draft {
  const outputBytes = (32 + pick(random, 64)) * 1024
  return {
    request: { code: flood[dialect], limits: { outputBytes, wallMs: 60_000 } },
    check: ({ outcome, stdout }) => {
      deepEqual(outcome, { kind: 'limit-exceeded', limit: 'output', allowed: outputBytes })
      equal(Buffer.byteLength(stdout), outputBytes)
    },
  }
}

const fillDisk: Record<Dialect, string> = {
  shell: 'exec cat /dev/zero > file',
  python: 'with open("file", "wb") as file:\n    while True: file.write(bytes(1 << 20))',
  javascript: `const { appendFileSync } = await import('node:fs')
for (;;) appendFileSync('file', Buffer.alloc(1 << 20))`,
}

function disk({ dialect }: Guest, { random }: Ticket): Draft {
  const diskBytes = (2 + pick(random, 6)) * MiB
  return {
    request: { code: fillDisk[dialect], limits: { diskBytes, wallMs: 60_000 } },
    check: ({ outcome }) => deepEqual(outcome, { kind: 'limit-exceeded', limit: 'disk', allowed: diskBytes }),
  }
}

const bombs = [
  'import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(100)',
  'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(100,), daemon=True).start()',
]

function forks(_guest: Guest, { random, machine }: Ticket): Draft {
  const processesMax = 6 + pick(random, 10)
  return {
    request: { code: bombs[pick(random, bombs.length)] ?? '', limits: { processesMax, wallMs: 60_000 } },
    check: ({ outcome }) => {
      if (!machine.forksAreCounted) equal(outcome.kind, 'failed')
      else deepEqual(outcome, { kind: 'limit-exceeded', limit: 'processes', allowed: processesMax })
    },
  }
}

const strikeSelf: Record<Dialect, (signal: string) => string> = {
  shell: (name) => `kill -${name.slice(3)} $$`,
  python: (name) => `import os, signal\nos.kill(os.getpid(), signal.${name})`,
  javascript: (name) =>
    `process.kill(process.pid, '${name}')\nawait new Promise(() => setTimeout(() => {}, 1e6))`,
}

function signal({ dialect }: Guest, { random }: Ticket): Draft {
  const name = random() < 0.5 ? 'SIGKILL' : 'SIGTERM'
  return {
    request: { code: strikeSelf[dialect](name) },
    check: ({ outcome }) => deepEqual(outcome, { kind: 'killed', signal: name }),
  }
}

function isCancelled({ outcome }: RunResult): void {
  deepEqual(outcome, { kind: 'cancelled' })
}

function cancelBefore({ dialect }: Guest): Draft {
  return { request: { code: hang[dialect], signal: AbortSignal.abort() }, check: isCancelled }
}

/** Cancels between the request and the guest's first instruction, or soon after. */
function cancelAtStart({ dialect }: Guest, { random }: Ticket): Draft {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), random() * 60)
  return { request: { code: hang[dialect], signal: controller.signal }, check: isCancelled }
}

const sayReady: Record<Dialect, string> = {
  shell: 'echo ready; ',
  python: 'print("ready", flush=True); ',
  javascript: 'console.log("ready"); ',
}

function cancelAtWork({ dialect }: Guest): Draft {
  const controller = new AbortController()
  return {
    request: {
      code: `${sayReady[dialect]}${hang[dialect]}`,
      signal: controller.signal,
      onOutput: () => controller.abort(),
    },
    check: (result) => {
      isCancelled(result)
      equal(result.stdout, 'ready\n')
    },
  }
}

/** Cancels when the result has arrived, which changes nothing for this run or for the next run of its worker. */
function cancelLate({ dialect }: Guest): Draft {
  const controller = new AbortController()
  return {
    request: { code: sayReady[dialect], signal: controller.signal },
    check: (result) => {
      completes(result, { stdout: 'ready\n' })
      controller.abort()
    },
  }
}

export const badEnds: readonly Kind[] = [
  { name: 'exit code', copies: 2, guests: plainGuests, draft: exitCode },
  { name: 'error', copies: 2, guests: [python, bun, node], draft: error },
  { name: 'syntax error', copies: 1, guests: [python, bun, node], draft: syntaxError },
  { name: 'timeout', copies: 3, guests: plainGuests, draft: timeout },
  { name: 'processor time', copies: 1, guests: plainGuests, draft: processorTime },
  { name: 'memory death', copies: 1, guests: plainGuests, draft: memory },
  { name: 'flood', copies: 2, guests: plainGuests, draft: output },
  { name: 'full disk', copies: 1, guests: plainGuests, draft: disk },
  { name: 'fork bomb', copies: 1, guests: [python], draft: forks },
  { name: 'own signal', copies: 1, guests: plainGuests, draft: signal },
  { name: 'cancel before', copies: 1, guests: plainGuests, draft: cancelBefore },
  { name: 'cancel at start', copies: 2, guests: plainGuests, draft: cancelAtStart },
  { name: 'cancel at work', copies: 2, guests: plainGuests, draft: cancelAtWork },
  { name: 'cancel late', copies: 1, guests: plainGuests, draft: cancelLate },
]
