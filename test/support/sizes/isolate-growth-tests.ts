/** Many programs of all kinds, which must not increase the memory of workers and host. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { findWorkers } from '../../adapters/code-execution/find-workers.ts'
import { useService } from '../../adapters/code-execution/use-service.ts'
import type { CodeExecutionParams } from '../../../src/adapters/code-execution/index.ts'
import { usedBytes } from '../machine/held-memory.ts'

const MiB = 1024 * 1024
const pageBytes = 4096
/** Allows for spare workers and garbage. In the long form, a leak of a few KiB per run exceeds it. */
const hostGrowthMax = 24 * MiB
/** A worker serves 2,000 programs, so a leak of 16 KiB per run reaches it. */
const workerGrowthMax = 32 * MiB

interface Kind extends Partial<CodeExecutionParams> {
  readonly code: string
  readonly errorType?: string
}

const kinds: readonly Kind[] = [
  { code: 'output = input.a + 1', inputData: { a: 1 } },
  { code: "output = require('lodash').chunk([1, 2, 3], 2)" },
  {
    code: 'output = await bridge.echo(input)',
    inputData: ['x'.repeat(1000)],
    bridge: { echo: (value) => value },
  },
  { code: 'console.log("x".repeat(1000)); output = new Array(10000).fill({ a: 1 })' },
  { code: 'throw new Error("as usual")', errorType: 'RUNTIME_ERROR' },
  { code: "require('fs')", errorType: 'SECURITY_ERROR' },
  { code: 'a b', errorType: 'SYNTAX_ERROR' },
  { code: 'globalThis.kept = new Uint8Array(5e6).fill(1); output = kept.length' },
  { code: 'new ArrayBuffer(500e6)', errorType: 'MEMORY_LIMIT' },
  { code: 'const a: number = 1; output = a', language: 'typescript' },
]

export function testGrowth(runs: number): void {
  const { service, execute } = useService({ poolSize: 2 })
  const perform = async (count: number): Promise<void> => {
    let left = count
    const client = async (): Promise<void> => {
      while (left-- > 0) {
        const { code, errorType, ...more } = kinds[left % kinds.length] as Kind
        const result = await execute(code, more)
        assert.equal(result.errorType, errorType, `${code}: ${result.error}`)
      }
    }
    await Promise.all(Array.from({ length: 4 }, client))
  }

  test(`${runs} programs do not increase the memory of host and workers`, async (context) => {
    await service.initialize()
    await perform(Math.max(100, runs / 20))
    const before = { host: usedBytes(), workers: sizes() }
    await perform(runs)
    const after = { host: usedBytes(), workers: sizes() }
    context.diagnostic(`MiB before: ${describe(before)}; after: ${describe(after)}`)
    assert.ok(after.host - before.host < hostGrowthMax, `the host grew: ${describe(after)}`)
    assert.equal(after.workers.size, before.workers.size)
    // In the long form the workers have been replaced meanwhile.
    const largest = Math.max(...before.workers.values())
    for (const bytes of after.workers.values())
      assert.ok(bytes - largest < workerGrowthMax, `a worker grew: ${describe(after)}`)
  })
}

/** Resident bytes of the workers by pid. */
function sizes(): Map<number, number> {
  return new Map(
    findWorkers().map(({ pid }) => {
      const [, resident] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
      return [pid, Number(resident) * pageBytes]
    }),
  )
}

const describe = ({
  host,
  workers,
}: {
  readonly host: number
  readonly workers: Map<number, number>
}): string =>
  `host ${Math.round(host / MiB)}, workers ${[...workers.values()].map((bytes) => Math.round(bytes / MiB)).join(' and ')}`
