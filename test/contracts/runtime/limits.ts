/** What a program may use, and what happens to one that exceeds it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'

import { ampleMs, untilShown } from '../../support/patient-run.ts'
import type { Patient } from '../../support/patient-run.ts'
import type { RunResult } from '../../../src/index.ts'
import type { ContractParts } from '../runtime.contract.ts'

/** The allowed delay of a busy machine; an idle one ends a run within 50 ms. */
const lateMs = 250
const KiB = 1024
const MiB = 1024 * KiB

export function contractOfLimits({ programs, run }: ContractParts): void {
  const cpuMs = programs.startMs
  for (const [name, program] of [
    ['computes', programs.printThenLoop('started')],
    ['sleeps', programs.printThenSleep('started')],
    ['lets its children compute', programs.loopInChildren(3, 'started')],
  ] as const) {
    it(`ends a program that ${name} for ever at its wall limit and keeps its output`, async () => {
      const isPunctual = ({ seen, deadlineMs }: Patient<RunResult>) =>
        seen.usage.wallMs >= deadlineMs - 1 && seen.usage.wallMs <= deadlineMs + lateMs
      const last = await untilShown(
        (wallMs) => run(program, { limits: { wallMs } }),
        (one) => one.seen.stdout !== '' && isPunctual(one),
      )
      const { outcome, stdout, usage } = last.seen
      assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: last.deadlineMs })
      assert.equal(stdout, 'started')
      assert.ok(isPunctual(last), `${usage.wallMs} ms`)
    })
  }

  it('ends a program that used its processor time and keeps its output', async () => {
    const { outcome, stdout, usage } = await run(programs.printThenLoop('started'), { limits: { cpuMs } })
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'cpu', limitMs: cpuMs })
    assert.equal(stdout, 'started')
    assert.ok(usage.cpuMs >= cpuMs * 0.9 && usage.cpuMs <= cpuMs + lateMs, `${usage.cpuMs} ms`)
  })

  it('counts the processor time of all processes together', async () => {
    const { outcome, usage } = await run(programs.loopInChildren(2, ''), { limits: { cpuMs } })
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'cpu', limitMs: cpuMs })
    assert.ok(usage.cpuMs >= cpuMs * 0.9, `${usage.cpuMs} ms`)
  })

  it('starts with any memory limit that is large enough', async () => {
    // Engines reserve memory in steps: a larger step that just fits may leave too little memory for what follows.
    for (const more of [0, 64, 192, 256, 320, 448, 768, 960, 1984]) {
      const memoryBytes = programs.memoryBytes + more * MiB
      const limits = { memoryBytes, diskBytes: 16 * MiB }
      const { outcome, stderr } = await run(programs.print('started'), { limits })
      assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, `${memoryBytes} bytes: ${stderr}`)
    }
  })

  it('ends a program that exceeds its memory limit', async () => {
    const limits = { memoryBytes: programs.memoryBytes }
    const { outcome, usage } = await run(programs.allocateForever, { limits })
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
    assert.ok(usage.memoryPeakBytes >= limits.memoryBytes * 0.5, `${usage.memoryPeakBytes} bytes`)
  })

  it('refuses writes beyond the disk limit, and reports it if the program fails because of that', async () => {
    const { outcome } = await run(programs.fillDisk, { limits: { diskBytes: 512 * KiB } })
    assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'disk', allowed: 512 * KiB })
  })

  contractOfProcesses({ programs, run })

  it('lets a program finish that stays below every limit', async () => {
    const limits = {
      wallMs: ampleMs,
      cpuMs: 10_000,
      memoryBytes: 512 * MiB,
      processesMax: 40,
      openFilesMax: 100,
      diskBytes: MiB,
    }
    const { outcome, stdout } = await run(programs.print('fine'), { limits })
    assert.deepEqual({ outcome, stdout }, { outcome: { kind: 'completed', exitCode: 0 }, stdout: 'fine' })
  })
}

function contractOfProcesses({ programs, run }: ContractParts): void {
  const { spawnForever } = programs
  if (spawnForever === null) return

  it('refuses one process too many, and reports it if there is evidence that the program failed because of that', async () => {
    // An engine needs descriptors for each process, and a busy watchdog may be late.
    const limits = { processesMax: 40, openFilesMax: 1024 }
    const { outcome, receipt } = await run(spawnForever, { limits })
    // An rlimit does not count refusals, so with it the run only fails.
    if (receipt.limits.processesMax.by === 'rlimit') assert.equal(outcome.kind, 'failed')
    else assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'processes', allowed: 40 })
  })
}
