/** Cells of which a test is the host itself: what to send, and what has to be left. */
import assert from 'node:assert/strict'

import { defaultLimits } from '../../../src/core/limits.ts'
import type { SpawnSpec } from '../../../src/jail/cell/guest-process.ts'
import { probeMachine } from '../../../src/engine/probe.ts'
import { frameType } from '../../../src/jail/launch/frames.ts'
import { unwatched } from '../../../src/jail/limits/limit-rows.ts'
import { planLimits } from '../../../src/jail/limits/plan-limits.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { Toolchains } from '../../../src/runtimes/packages/toolchains.ts'
import { findProcess } from '../../support/machine/processes.ts'
import { readFault, sendPlan } from '../launch/raw-launcher.ts'
import type { RawLauncher } from '../launch/raw-launcher.ts'

/** A machine that has found out which layers it offers. */
export async function probedMachine(): Promise<Machine> {
  const machine = new Machine({ uidRange: defaultUidRange })
  await probeMachine({ machine, minimum: 'restricted', onRefusal() {} }, new Toolchains())
  return machine
}

export function spawnOf(file: string, ...argv: readonly string[]): SpawnSpec {
  const ground = { level: 'standard', cgroupVersion: 1, identity: 'shared' } as const
  const figures = { openFilesHard: 1024, processesHard: 1024, tcpMem: '' }
  const { rlimits } = planLimits({ ...defaultLimits, processesMax: 500 }, ground, figures)
  return {
    file,
    argv: [file, ...argv],
    env: {},
    folder: '/',
    rlimits,
    wallMs: 0,
    outputBytes: 1000,
    watched: unwatched,
  }
}

/** Builds the cell, and returns its pid 1's pid on the host. */
export async function build(launcher: RawLauncher, records: readonly PlanRecord[]): Promise<number> {
  sendPlan(launcher, records)
  const ready = await launcher.frame(frameType.ready)
  if (ready === undefined)
    assert.fail(`no cell: ${JSON.stringify(readFault(await launcher.frame(frameType.fault)))}`)
  return Number((await launcher.frame(frameType.born))?.payload.readUInt32LE(0))
}

/** Checks that all processes of the launcher have ended, including pid 1. */
export async function assertNothingLeft(launcher: RawLauncher, pid1?: number): Promise<void> {
  await launcher.ended
  assert.equal(findProcess(Number(launcher.stub.pid))?.state ?? 'gone', 'gone')
  if (pid1 !== undefined) assert.equal(findProcess(pid1)?.state ?? 'gone', 'gone')
}
