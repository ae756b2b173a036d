/** Outlasting the wall limit: ignored signals, a stopped process, pipes that others hold or that are closed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest, RunResult } from '../../../src/index.ts'
import { processorPressureMs } from '../../support/machine/processor-pressure.ts'
import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import type { PatientRun } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** 50 ms on an idle machine; this one may be busy. A process that survives its deadline would also survive this bound. */
const lateMsMax = 300

const ignoreSignals = `for (const name of ['SIGTERM', 'SIGINT', 'SIGALRM', 'SIGHUP', 'SIGXCPU', 'SIGUSR2']) process.on(name, () => {})`
const attacks: Record<string, RunRequest> = {
  'shell that ignores every signal it may': {
    ...shell,
    code: `trap '' TERM INT ALRM HUP XCPU QUIT USR1; echo up; while :; do :; done`,
  },
  'python that ignores every signal it may': {
    ...python,
    code: `
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
print('up', flush=True)
while True: pass`,
  },
  'bun that handles every signal it may': {
    ...bun,
    code: `${ignoreSignals}; console.log('up'); setInterval(() => {}, 1000)`,
  },
  'node that handles every signal it may': {
    ...node,
    code: `${ignoreSignals}; console.log('up'); for (;;) {}`,
  },
  'shell that stops itself': { ...shell, code: 'echo up; kill -STOP $$; echo down' },
  'python that stops itself': {
    ...python,
    code: 'import os\nprint("up", flush=True)\nos.kill(os.getpid(), 19)',
  },
  'bun that stops itself': { ...bun, code: `console.log('up'); process.kill(process.pid, 'SIGSTOP')` },
  'node that stops itself': { ...node, code: `console.log('up'); process.kill(process.pid, 'SIGSTOP')` },
  'shell that closed its stdout and stderr': {
    ...shell,
    code: 'echo up; exec >&- 2>&-; while :; do sleep 1; done',
  },
  'python that closed every descriptor': {
    ...python,
    code: 'import os, time\nprint("up", flush=True)\nos.closerange(0, 256)\ntime.sleep(60)',
  },
  'node that closed its stdout and stderr': {
    ...node,
    code: `console.log('up'); const fs = await import('node:fs'); fs.closeSync(1); fs.closeSync(2); setInterval(() => {}, 1000)`,
  },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${name} is timed-out at its deadline, and what it printed is kept`, async () => {
    const { result, wallMs } = await runPatiently(
      runWatched,
      request,
      (one) => one.result.stdout !== '' && isPunctual(one),
    )
    const { outcome, stdout, usage } = result
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
    assert.equal(stdout, 'up\n')
    assert.ok(isPunctual({ result, wallMs }), `it ended after ${usage.wallMs} ms`)
  })
}

/** How long some process had no processor during the last run. */
let pressedMs = 0

async function runWatched(request: RunRequest): Promise<RunResult> {
  const before = processorPressureMs()
  const result = await guests.run(request)
  pressedMs = processorPressureMs() - before
  return result
}

function isPunctual({ result: { usage }, wallMs }: PatientRun): boolean {
  return usage.wallMs >= wallMs && usage.wallMs - pressedMs < wallMs + lateMsMax
}

const holdPipes: Record<string, RunRequest> = {
  shell: { ...shell, code: `sh -c 'trap "" TERM; sleep 600' & echo done` },
  python: {
    ...python,
    code: 'import subprocess\nsubprocess.Popen(["sleep", "600"], close_fds=False)\nprint("done")',
  },
  bun: { ...bun, code: holdFromJavaScript() },
  node: { ...node, code: holdFromJavaScript() },
}

function holdFromJavaScript(): string {
  return `const { spawn } = await import('node:child_process'); spawn('sleep', ['600'], { stdio: 'inherit' }).unref(); console.log('done')`
}

for (const [name, request] of Object.entries(holdPipes)) {
  test(`a grandchild that holds the stdout of ${name} does not delay the answer`, async () => {
    const { outcome, stdout, usage } = await runWatched({ ...request, limits: { wallMs: ampleMs } })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(stdout, 'done\n')
    assert.ok(usage.wallMs - pressedMs < 15_000, `it took ${usage.wallMs} ms`)
  })
}
