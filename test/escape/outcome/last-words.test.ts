/** Code that runs after the end of a program: exit handlers, finalizers, threads, forked children. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Outcome, RunRequest } from '../../../src/index.ts'
import { runPatiently } from '../../support/patient-run.ts'
import { bun, node, python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** At any deadline. */
const timedOut = { kind: 'timed-out', limit: 'wall' } as const
const done = (exitCode: number): Outcome => ({ kind: 'completed', exitCode })

type End = Outcome | typeof timedOut
type Attack = readonly [request: RunRequest, end: End, stdout: string]
const py = (code: string): RunRequest => ({ ...python, code: `import os, sys, time\n${code}` })

const attacks: Record<string, Attack> = {
  'python: an exit handler that never ends': [
    py('import atexit\natexit.register(lambda: time.sleep(60))\nprint("up", flush=True)'),
    timedOut,
    'up\n',
  ],
  'python: a finalizer that never ends': [
    py(
      'class Last:\n    def __del__(self):\n        while True: pass\nlast = Last()\nprint("up", flush=True)',
    ),
    timedOut,
    'up\n',
  ],
  'python: an exit handler that exits otherwise': [
    py('import atexit\natexit.register(lambda: os._exit(9))\nprint("up", flush=True)'),
    done(9),
    'up\n',
  ],
  'python: a thread that is left behind': [
    py('import threading\nthreading.Thread(target=time.sleep, args=(60,)).start()\nprint("up", flush=True)'),
    timedOut,
    'up\n',
  ],
  'python: a daemon thread that goes on printing': [
    py(
      'import threading\ndef talk():\n    while True: time.sleep(0.01)\nthreading.Thread(target=talk, daemon=True).start()\nprint("up", flush=True)',
    ),
    done(0),
    'up\n',
  ],
  'python: a child that comes back from the program too': [
    py(
      'child = os.fork()\nif child: os.waitpid(child, 0)\nprint("parent" if child else "child", flush=True)\nsys.exit(5 if child else 6)',
    ),
    done(5),
    'child\nparent\n',
  ],
  'python: a child that goes on where its parent ended': [
    py(
      'if os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\n    print("late")\nprint("up", flush=True)\nos._exit(4)',
    ),
    done(4),
    'up\n',
  ],
  'python: sys.exit with a number that no exit code can be': [
    py('print("up", flush=True)\nsys.exit(2 ** 40 + 3)'),
    done(3),
    'up\n',
  ],
  'python: os.abort': [
    py('print("up", flush=True)\nos.abort()'),
    { kind: 'killed', signal: 'SIGABRT' },
    'up\n',
  ],
  'python: recursion into a segmentation fault': [
    py('import ctypes\nsys.setrecursionlimit(1 << 30)\nprint("up", flush=True)\nctypes.string_at(0)'),
    { kind: 'killed', signal: 'SIGSEGV' },
    'up\n',
  ],
  'python: signals to itself at its end': [
    py(
      'import atexit, signal\natexit.register(lambda: os.kill(os.getpid(), signal.SIGKILL))\nprint("up", flush=True)',
    ),
    { kind: 'killed', signal: 'SIGKILL' },
    'up\n',
  ],
}

const javascript: Record<string, readonly [code: string, end: End]> = {
  'an exit listener that never ends': [`process.on('exit', () => { for (;;) {} })`, timedOut],
  'an exit listener that exits otherwise': [`process.on('exit', () => process.exit(9))`, done(9)],
  'work that is begun again before every exit': [
    `process.on('beforeExit', () => setTimeout(() => {}, 10))`,
    timedOut,
  ],
  'a finalizer and a timer after exit': [
    `new FinalizationRegistry(() => { for (;;) {} }).register({}, 1); process.on('exit', () => setTimeout(() => {}, 1e6))`,
    done(0),
  ],
  abort: [`process.abort()`, { kind: 'killed', signal: 'SIGABRT' }],
}

for (const runtime of [bun, node]) {
  for (const [name, [code, outcome]] of Object.entries(javascript)) {
    const whole = `(await import('node:fs')).writeSync(1, 'up\\n'); ${code}`
    attacks[`${runtime.runtime}: ${name}`] = [{ ...runtime, code: whole }, outcome, 'up\n']
  }
}

for (const [name, [request, expected, printed]] of Object.entries(attacks)) {
  test(`${name} ends as the kernel says: ${expected.kind}`, async () => {
    const { result, wallMs } = await runPatiently(
      guests.run,
      request,
      (one) => expected.kind === 'timed-out' && one.result.stdout === printed,
    )
    const end = expected.kind === 'timed-out' ? { ...expected, limitMs: wallMs } : expected
    assert.deepEqual(result.outcome, end, result.stderr)
    assert.equal(result.stdout, printed)
    await guests.leaks.check()
  })
}
