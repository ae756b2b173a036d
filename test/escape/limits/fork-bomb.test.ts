/** Fork bombs: as many processes as the kernel allows. They run only after a small one has shown that the limit holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { areInForks } from '../../support/in-forks.ts'
import { processesLimitIsMissing } from '../../support/hostile/limits-hold.ts'
import { runPatiently } from '../../support/patient-run.ts'
import { listCells } from '../../support/machine/processes.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const skip = await processesLimitIsMissing(guests)
/** A watchdog that counts periodically refuses no fork; it ends a guest with too many processes, a little late. */
const anyRequest = areInForks ? { ...python, code: '' } : { ...shell, code: ':' }
const isWatched = (await guests.run(anyRequest)).receipt.limits.processesMax.by === 'watchdog'

const processesMax = 32
/** Enough time for a bomb on a slow machine; these programs end by themselves afterwards. */
const patientMs = 20_000
/**
 * The list of processes is not of one moment: one ends, another starts, and both are in it. A zygote's cell also has the
 * spaces of its guests, and forks that wait.
 */
const overhead = areInForks ? 24 : 4
const sampleMs = 20

/** Runs a bomb, counts its processes meanwhile, and starts another cell once the bomb has begun. */
async function runBomb(request: RunRequest) {
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, ...listCells().map(({ guests: ofCell }) => ofCell.length))
  }, sampleMs)
  const started = Promise.withResolvers<void>()
  const bomb = guests.run({ ...request, onOutput: () => started.resolve() })
  await Promise.race([started.promise, bomb])
  const bystander = await guests.run({ ...shell, code: 'echo alive' })
  const result = await bomb
  clearInterval(timer)
  assert.equal(bystander.stdout, 'alive\n')
  if (!isWatched) assert.ok(most <= processesMax + overhead, `${most} processes were alive at one time`)
  return result
}

const persistent = {
  shell: { ...shell, code: 'bomb() { echo x; bomb | bomb & bomb | bomb & wait; }; bomb' },
  python: {
    ...python,
    code: 'import os\nprint("x", flush=True)\nwhile True:\n    try: os.fork()\n    except OSError: pass',
  },
  bun: { ...bun, code: spawnForEver() },
  node: { ...node, code: spawnForEver() },
}

function spawnForEver(): string {
  return `
    const { spawn } = await import('node:child_process')
    console.log('x')
    for (;;) {
      try { spawn('/bin/sleep', ['60'], { stdio: 'ignore' }).on('error', () => {}) } catch {}
      await new Promise((resolve) => setTimeout(resolve, 1))
    }`
}

for (const [name, request] of Object.entries(persistent)) {
  test(
    `a ${name} fork bomb ${isWatched ? 'ends when it' : 'never'} has more than processesMax processes, and another cell starts meanwhile`,
    { skip },
    async () => {
      const { result } = await runPatiently(runBomb, { ...request, limits: { processesMax } })
      const { outcome, stdout } = result
      assert.match(stdout, /^x/)
      if (isWatched && outcome.kind !== 'timed-out') {
        assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'processes', allowed: processesMax })
        return
      }
      if (outcome.kind === 'timed-out') return
      // Bun sometimes starts another thread, and aborts if it cannot.
      assert.equal(name, 'bun')
      assert.equal(outcome.kind, guests.heldByCgroup ? 'limit-exceeded' : 'killed')
    },
  )
}

const giveUp = {
  fork: 'import os, time\nprint("x", flush=True)\nwhile True:\n    if os.fork() == 0: time.sleep(9)',
  thread:
    'import threading, time\nprint("x", flush=True)\nwhile True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()',
}

for (const [name, code] of Object.entries(giveUp)) {
  test(
    `a python ${name} bomb that fails because of a refusal is limit-exceeded if cgroup or watchdog noticed it, otherwise failed`,
    { skip },
    async () => {
      const { outcome } = await runBomb({ ...python, code, limits: { processesMax, wallMs: patientMs } })
      if (guests.heldByCgroup || isWatched)
        assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'processes', allowed: processesMax })
      else assert.equal(outcome.kind, 'failed')
    },
  )
}
