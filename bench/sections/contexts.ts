/** Code contexts: a piece of code in a running one, a new context, and forks of one with 100 MB of data. */
import { setTimeout as pause } from 'node:timers/promises'

import { createLazaret, LazaretError } from '../../src/index.ts'
import type { CodeContext, CodeContextOptions, Sandbox } from '../../src/index.ts'
import { findPythonWith } from '../../test/support/machine/find-python.ts'
import { compare, timed } from '../measure/compare.ts'
import type { Rival } from '../measure/compare.ts'
import type { BenchOptions } from '../options.ts'
import { goalAtMost, skippedTable } from '../table.ts'
import type { Table } from '../table.ts'

const MiB = 1024 * 1024
const languages = ['python', 'javascript'] as const
/** Ended contexts are removed within this time. */
const settleMs = 50
/** The next interpreter is ready within this time, even beside other work. */
const readyMs = 600
const forkTitle = 'a fork of a context that holds 100 MB, until it can take code'
/** The kernel allows at most 16 nested Landlock domains. */
const forksMax = 12
/** Each uses some 100 MB. */
const holds = {
  bytes: 'x = bytearray(100 * 1000 * 1000)\nfor at in range(0, len(x), 4096): x[at] = 1',
  objects: 'x = [str(n) for n in range(1_600_000)]',
  frame: 'import numpy, pandas\nx = pandas.DataFrame(numpy.random.rand(1_250_000, 10))',
} as const

export async function benchContexts({ turns }: BenchOptions): Promise<Table[]> {
  const python = findPythonWith(['pandas'])
  const toolchains = python === null ? {} : { toolchains: { python: python.path } }
  await using lazaret = createLazaret({ queue: { memoryTotalBytes: 2 ** 40 }, ...toolchains })
  await using sandbox = await lazaret.sandbox()
  const tables = [await compareEntries(sandbox, turns), await compareCreation(sandbox, turns)]
  const wanted = python === null ? (['bytes', 'objects'] as const) : (['bytes', 'objects', 'frame'] as const)
  return [...tables, await compareForks(sandbox, turns, wanted)]
}

async function run(context: CodeContext, code: string): Promise<void> {
  const { outcome, stderr } = await context.runCode(code)
  if (outcome.kind !== 'completed' || outcome.exitCode !== 0) throw new Error(`${code} has failed: ${stderr}`)
}

async function compareEntries(sandbox: Sandbox, turns: number): Promise<Table> {
  const contexts = await Promise.all(languages.map((language) => sandbox.createCodeContext({ language })))
  const table = await compare({
    title: '1 + 1 in a running context, to its result',
    turns,
    rivals: contexts.map((context) => ({
      name: `lazaret, ${context.language}`,
      turn: timed(() => run(context, '1 + 1')),
    })),
    goals: (rows) => rows.map((row) => goalAtMost(`${row.name}: p50 ≤ 5 ms`, row.figures['p50'] ?? NaN, 5)),
  })
  for (const { id } of contexts) await sandbox.deleteCodeContext(id)
  return table
}

/** From the second of a kind on, an interpreter is ready. */
async function compareCreation(sandbox: Sandbox, turns: number): Promise<Table> {
  const made: CodeContext[] = []
  const create = (options: CodeContextOptions) => async () =>
    void made.push(await sandbox.createCodeContext(options))
  /** A sandbox keeps only one interpreter ready, so it discards the one of the other language. */
  const warm =
    (options: CodeContextOptions): Rival['turn'] =>
    async () => {
      await create(options)()
      await pause(readyMs)
      return timed(create(options))()
    }
  return compare({
    title: 'a new context, until it can take code',
    turns: Math.ceil(turns / 4),
    settle: async () => {
      for (const { id } of made.splice(0)) await sandbox.deleteCodeContext(id)
      await pause(settleMs)
    },
    rivals: [
      ...languages.map((language) => ({
        name: `lazaret, ${language}, an interpreter is ready`,
        turn: warm({ language }),
      })),
      ...languages.map((language, at) => ({
        name: `lazaret, ${language}, none is ready`,
        // Otherwise the interpreter of the previous kind would be found.
        turn: timed(create({ language, limits: { memoryBytes: (200 + at) * MiB } })),
      })),
    ],
    goals: ([python, javascript]) => [
      goalAtMost('python, one is ready: p50 ≤ 10 ms', python?.figures['p50'] ?? NaN, 10),
      goalAtMost('javascript, one is ready: p50 ≤ 10 ms', javascript?.figures['p50'] ?? NaN, 10),
    ],
  })
}

/** A context with data. It is replaced before the kernel would refuse another fork of it. */
class Origin {
  readonly what: keyof typeof holds
  readonly #sandbox: Sandbox
  readonly #forks: CodeContext[] = []
  #context: CodeContext | undefined
  #forksLeft = 0

  constructor(sandbox: Sandbox, what: keyof typeof holds) {
    this.#sandbox = sandbox
    this.what = what
  }

  async prepare(): Promise<void> {
    for (const { id } of this.#forks.splice(0)) await this.#sandbox.deleteCodeContext(id)
    if (this.#forksLeft > 0) return
    if (this.#context !== undefined) await this.#sandbox.deleteCodeContext(this.#context.id)
    this.#context = await this.#sandbox.createCodeContext({ limits: { memoryBytes: 1024 * MiB } })
    this.#forksLeft = forksMax
    await run(this.#context, holds[this.what])
  }

  async fork(): Promise<void> {
    this.#forksLeft -= 1
    if (this.#context !== undefined) this.#forks.push(await this.#context.fork())
  }
}

async function compareForks(
  sandbox: Sandbox,
  turns: number,
  wanted: readonly Origin['what'][],
): Promise<Table> {
  const origins = wanted.map((what) => new Origin(sandbox, what))
  const prepare = async () => {
    for (const origin of origins) await origin.prepare()
  }
  try {
    await prepare()
    await origins[0]?.fork()
  } catch (error) {
    if (!(error instanceof LazaretError) || error.code !== 'FORK_REFUSED') throw error
    return skippedTable(forkTitle, error.message)
  }
  return compare({
    title: forkTitle,
    turns,
    settle: prepare,
    rivals: origins.map((origin) => ({ name: `lazaret, ${origin.what}`, turn: timed(() => origin.fork()) })),
    goals: (rows) => rows.map((row) => goalAtMost(`${row.name}: p50 ≤ 10 ms`, row.figures['p50'] ?? NaN, 10)),
  })
}
