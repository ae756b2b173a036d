/** Daemons: processes with their own session that ignore every signal they can, and outlive their parent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { processorPressureMs } from '../../support/machine/processor-pressure.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const daemon = `trap '' TERM INT HUP QUIT; while :; do sleep 1; done`
const javascript = `
  const { spawn } = await import('node:child_process')
  spawn('setsid', ['sh', '-c', ${JSON.stringify(daemon)}], { detached: true, stdio: 'inherit' }).unref()
  console.log('left')`

const attacks = {
  shell: {
    ...shell,
    code: `(setsid sh -c "${daemon}" &)\n(setsid sh -c "${daemon}" >/dev/null 2>&1 </dev/null &)\necho left`,
  },
  python: {
    ...python,
    code: `
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0: os._exit(0)
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True: time.sleep(1)
print('left')`,
  },
  bun: { ...bun, code: javascript },
  node: { ...node, code: javascript },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`a daemon left by ${name} does not delay the result, and is gone afterwards`, async () => {
    const pressedBefore = processorPressureMs()
    const { outcome, stdout, usage } = await guests.run({ ...request, limits: { wallMs: ampleMs } })
    const pressedMs = processorPressureMs() - pressedBefore
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(stdout, 'left\n')
    assert.ok(usage.wallMs - pressedMs < 15_000, `it took ${usage.wallMs} ms`)
    await guests.leaks.check()
  })
}
