/** A zygote of Python on this machine, for tests of the zygote and of its guests. */
import assert from 'node:assert/strict'

import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { openZygote } from '../../../src/jail/cell/zygote-cell.ts'
import type { Zygote } from '../../../src/jail/cell/zygote-cell.ts'
import type { Machine } from '../../../src/jail/machine/machine.ts'
import { planPythonZygote } from '../../../src/runtimes/python/zygote.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { isDead, listDescendants } from '../../support/machine/processes.ts'
import type { HostProcess } from '../../support/machine/processes.ts'

const MiB = 1024 * 1024
/** The most guests that the zygote has at one time. */
export const roomMax = 6
export const zygoteLimits = { ...defaultLimits, memoryBytes: 1024 * MiB }

const withNumbers = findPythonWith(['numpy'])
export const hasNumbers = withNumbers !== null
/** Null if this machine has none. */
export const python = withNumbers ?? findPythonWith(['sys'])

export async function openPythonZygote(machine: Machine, modules: readonly string[]): Promise<Zygote> {
  assert.ok(python !== null)
  const program = planPythonZygote(python, { preload: modules, readable: [] })
  const limits = zygoteLimits
  const zygote = await openZygote({ machine, clock: systemClock, program, limits, guestsMax: roomMax })
  assert.ok(zygote !== null)
  return zygote
}

export function livingDescendants(): HostProcess[] {
  return listDescendants(process.pid).filter((one) => !isDead(one))
}
