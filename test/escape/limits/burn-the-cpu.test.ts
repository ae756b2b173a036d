/** Processor time: counted for everything in the cell, however it is spread or hidden. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const limits = { cpuMs: 400, wallMs: ampleMs }
const timedOut = { kind: 'timed-out', limit: 'cpu', limitMs: limits.cpuMs }

const spawnBurners = `
  const { spawn } = await import('node:child_process')
  for (let i = 0; i < 3; i++) spawn('sh', ['-c', 'while :; do :; done'])
  setInterval(() => {}, 1000)`
const workers = `
  const { Worker } = await import('node:worker_threads')
  for (let i = 0; i < 3; i++) new Worker('for (;;) {}', { eval: true })
  setInterval(() => {}, 1000)`

const attacks: Record<string, RunRequest> = {
  'shell: a busy loop': { ...shell, code: 'while :; do :; done' },
  'shell: busy children of a sleeping parent': {
    ...shell,
    code: 'for i in 1 2 3; do while :; do :; done & done; sleep 60',
  },
  'shell: busy children in sessions of their own': {
    ...shell,
    code: `for i in 1 2 3; do (setsid sh -c 'while :; do :; done' &); done; sleep 60`,
  },
  'shell: many short children': { ...shell, code: 'while :; do /bin/true; done' },
  'shell: SIGXCPU ignored': { ...shell, code: `trap '' XCPU; while :; do :; done` },
  'python: busy children of a sleeping parent': {
    ...python,
    code: 'import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        while True: pass\ntime.sleep(60)',
  },
  'python: children that nobody waits for': {
    ...python,
    code: `
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        until = time.process_time() + 0.08
        while time.process_time() < until: pass
        os._exit(0)
    time.sleep(0.06)`,
  },
  'python: threads in native code': {
    ...python,
    code: `import hashlib, threading, time\nfor _ in range(4): threading.Thread(target=hashlib.pbkdf2_hmac, args=('sha256', b'x', b'y', 10 ** 9), daemon=True).start()\ntime.sleep(60)`,
  },
  'bun: busy children of a sleeping parent': { ...bun, code: spawnBurners },
  'node: busy children of a sleeping parent': { ...node, code: spawnBurners },
  'bun: worker threads': { ...bun, code: workers },
  'node: worker threads': { ...node, code: workers },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${name} is timed-out by the CPU limit, soon after it`, async () => {
    const { outcome, usage } = await guests.run({ ...request, limits })
    assert.deepEqual(outcome, timedOut)
    assert.ok(
      usage.cpuMs >= limits.cpuMs * 0.9 && usage.cpuMs < limits.cpuMs + 600,
      `it used ${usage.cpuMs} ms`,
    )
  })
}

test('a sleeping program is not charged for time it does not use', async () => {
  const { outcome } = await guests.run({ ...shell, code: 'sleep 0.9; echo rested', limits })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
})

test('a program that sends itself SIGXCPU is killed: a limit cannot be claimed', async () => {
  const { outcome } = await guests.run({
    ...shell,
    code: 'kill -XCPU $$',
    limits: { ...limits, cpuMs: 60_000 },
  })
  assert.deepEqual(outcome, { kind: 'killed', signal: 'SIGXCPU' })
})
