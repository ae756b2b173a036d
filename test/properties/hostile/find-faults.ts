/** Checks the results of hostile values, and lists those that differ from the expected ones. */
import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'

import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { Channel } from '../../../src/runtimes/channel/channel.ts'
import { HostBudget } from '../../../src/runtimes/channel/host-budget.ts'
import { findDifference } from '../same-value.ts'
import { anything, type HostileValue, nothing } from './hostile-value.ts'

const MiB = 1024 * 1024
/** The allowed growth of this process, for values of 16 MiB and the test's own tools. */
const growthBytesMax = 1024 * MiB

export interface Seen {
  readonly outcome: string
  readonly isCut: boolean
  readonly value: unknown
}

const isPolluted = (): boolean =>
  Reflect.get({}, 'polluted') !== undefined || Reflect.get([], 'polluted') !== undefined

function findFault(hostile: HostileValue, seen: Seen): string | undefined {
  const { isCut = false, outcome = 'completed', value } = hostile
  if (seen.outcome !== outcome) return `outcome ${seen.outcome}`
  if (isCut !== 'either' && seen.isCut !== isCut) return seen.isCut ? 'marked as cut' : 'not marked as cut'
  if (isPolluted()) return 'a prototype of the host has changed'
  if (value === anything) return seen.value === nothing ? 'no value' : undefined
  return seen.value === value ? undefined : findDifference(seen.value, value)
}

/** Tries all values, some at a time, and lists the faults. */
export async function listFaults(
  values: readonly HostileValue[],
  look: (value: HostileValue) => Promise<Seen>,
  atOnce = 4,
): Promise<readonly string[]> {
  const faults: string[] = []
  const waiting = [...values]
  const before = process.memoryUsage.rss()
  const work = async (): Promise<void> => {
    for (let value = waiting.shift(); value !== undefined; value = waiting.shift()) {
      const fault = findFault(value, await look(value))
      if (fault !== undefined) faults.push(`${value.title}: ${fault}`)
      const growth = process.memoryUsage.rss() - before
      if (growth > growthBytesMax)
        faults.push(`${value.title}: the host grew by ${Math.round(growth / MiB)} MiB`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return faults
}

/** The host's result for a value message, whoever wrote it. */
export async function lookAtMessage({ code }: HostileValue): Promise<Seen> {
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const budget = new HostBudget(systemClock, defaultLimits.hostMs)
  const channel = new Channel(stream, defaultLimits, {
    elapsed: () => 0,
    onEnd: () => undefined,
    budget,
    onFlood: () => assert.fail('a flood'),
  })
  budget.onSpent = () => channel.close()
  const json = Buffer.from(`{"type":"value","truncated":false,"text":"","value":${code}}`)
  const head = Buffer.alloc(4)
  head.writeUInt32LE(json.length)
  stream.push(Buffer.concat([head, json]))
  stream.push(null)
  await channel.drain(systemClock)
  const { value } = channel.claims
  return {
    outcome: 'completed',
    isCut: channel.truncated.has('value'),
    value: value === undefined ? nothing : value.live,
  }
}
