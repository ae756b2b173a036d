/** Orphans: hundreds of processes without parents end and must be reaped. The host checks that, not the guest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest, RunResult } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { areInForks } from '../../support/in-forks.ts'
import { isDead, listDescendants } from '../../support/machine/processes.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const times = 300
/** Stub, pid 1 or warden, a guest with its helpers, a zygote and parked forks, but no orphans. */
const processesMax = areInForks ? 40 : 9
const reapMs = 5000

const spawnOrphans = `
  const { spawnSync } = await import('node:child_process')
  for (let i = 0; i < ${times / 10}; i++) spawnSync('sh', ['-c', '${'(true &) ; '.repeat(10)} true'])
  console.log('done')
  setInterval(() => {}, 1000)`

const attacks = {
  shell: { ...shell, code: `for i in $(seq ${times}); do (true &) ; done; echo done; exec sleep 60` },
  python: {
    ...python,
    code: `
import os, time
for _ in range(${times}):
    child = os.fork()
    if child == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
    os.waitpid(child, 0)
print('done', flush=True)
time.sleep(60)`,
  },
  bun: { ...bun, code: spawnOrphans },
  node: { ...node, code: spawnOrphans },
}

/** Waits, while the guest sleeps, until what it left behind has been reaped; then ends it. */
async function runUntilReaped(request: RunRequest): Promise<RunResult> {
  const controller = new AbortController()
  const started = Promise.withResolvers<void>()
  const running = guests.run({ ...request, signal: controller.signal, onOutput: () => started.resolve() })
  await Promise.race([started.promise, running])
  try {
    await eventually(describeUnreaped, reapMs)
  } finally {
    controller.abort()
  }
  return await running
}

function describeUnreaped(): string | undefined {
  const cell = listDescendants(process.pid)
  const zombies = cell.filter(isDead).length
  return zombies === 0 && cell.length <= processesMax
    ? undefined
    : `${zombies} zombies of ${cell.length} processes`
}

/** A third of the orphans: on a busy machine pid 1 may lag behind by a few dozen exits. */
const orphansMax = 100

for (const [name, request] of Object.entries(attacks)) {
  test(`${times} orphaned exits under ${name} leave no zombie, and do not use up the limit on processes`, async () => {
    const { outcome, stdout, stderr } = await runUntilReaped({
      ...request,
      limits: { processesMax: orphansMax, wallMs: 60_000 },
    })
    assert.equal(stdout, 'done\n', stderr)
    assert.deepEqual(outcome, { kind: 'cancelled' }, stderr)
  })
}
