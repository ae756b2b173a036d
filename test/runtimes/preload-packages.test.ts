/** Packages that workers of Bun and Node have loaded before their run arrives. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import type { Lazaret, LazaretError, LazaretEvent, LazaretOptions, RunResult } from '../../src/index.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { bun, node, noPools } from '../support/use-lazaret.ts'

const root = mkdtempSync(join(tmpdir(), 'lazaret-preload-'))
chmodSync(root, 0o755)
after(() => rmSync(root, { recursive: true, force: true }))
const put = (path: string, text: string) => {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
}
/** The time of their evaluation, on the clock that host and guests share. */
const now = 'Date.now()'
put('common/index.js', `module.exports = { at: ${now} }`)
put('modern/package.json', '{"name":"modern","type":"module","exports":"./modern.js"}')
put('modern/modern.js', `export const at = ${now}`)
put('@scope/both/package.json', '{"exports":{"./part":{"import":"./part.mjs","require":"./part.cjs"}}}')
put('@scope/both/part.mjs', `export const at = ${now}`)
put('@scope/both/part.cjs', `exports.at = ${now}`)
put('random/index.js', 'const c = require("node:crypto"); Math.random(); c.randomUUID(); c.randomInt(9)')
put(
  'worker/index.js',
  'new (require("node:worker_threads").Worker)("setInterval(() => {}, 1000)", { eval: true })',
)
put('broken/index.js', 'throw new TypeError("it is broken")')

const packages = { node: root }
const names = ['common', 'modern', '@scope/both/part']
const program = `
import { at as modern } from 'modern'
import { at as imported } from '@scope/both/part'
const required = require('@scope/both/part').at
;[require('common').at, modern, imported, required].map((at) => at <= input)`

for (const engine of [bun, node]) describe(`packages of ${engine.runtime}`, () => describePackages(engine))

type Engine = typeof bun | typeof node

function describePackages(engine: Engine): void {
  const events: LazaretEvent[] = []
  const open = (options: LazaretOptions): Lazaret =>
    createLazaret({
      packages,
      pools: { ...noPools, [engine.runtime]: {} },
      onEvent: (event) => events.push(event),
      ...options,
    })

  async function runWarm(lazaret: Lazaret, code: string, preload?: readonly string[]): Promise<RunResult> {
    const more = preload === undefined ? {} : { preload }
    await lazaret.warmUp({ ...engine, ...more })
    const result = await lazaret.run({ ...engine, code, input: Date.now(), ...more })
    assert.equal(result.outcome.kind, 'completed', result.stderr)
    return result
  }

  test('are already loaded when the program imports them, in every way', async () => {
    await using lazaret = open({ preload: { node: names } })
    const { level } = await lazaret.probe()
    if (level === 'restricted') return // there is no /node_modules
    for (const language of ['javascript', 'typescript'] as const) {
      await lazaret.warmUp({ ...engine, language })
      const { value, stderr } = await lazaret.run({ ...engine, language, code: program, input: Date.now() })
      assert.deepEqual(value, [true, true, true, true], stderr)
    }
    await lazaret.releaseWorkers()
    const cold = await lazaret.run({ ...engine, code: program, input: Date.now() })
    assert.deepEqual([cold.receipt.start, ...(cold.value as boolean[])], ['cold', false, false, false, false])
  })

  test('are also loaded by workers that are not forks', async () => {
    await using lazaret = open({
      preload: { node: names },
      pools: { ...noPools, [engine.runtime]: { forks: false } },
    })
    const { level } = await lazaret.probe()
    if (level === 'restricted') return
    const { value, receipt } = await runWarm(lazaret, program)
    assert.deepEqual([receipt.start, ...(value as boolean[])], ['parked', true, true, true, true])
  })

  test('may be named in requests only if the operator allows it', async () => {
    await using closed = open({ preload: { node: ['common'] } })
    const preload = ['modern']
    const denied = closed.run({ ...engine, code: '1', preload })
    await assert.rejects(denied, (error: LazaretError) => error.code === 'ACCESS_DENIED')
    await assert.rejects(
      closed.warmUp({ ...engine, preload }),
      (error: LazaretError) => error.code === 'ACCESS_DENIED',
    )
    assert.equal((await closed.run({ ...engine, code: '1', preload: ['common'] })).value, 1)
    await using free = open({ access: { preload: true } })
    for (const wrong of ['../common', '/etc/passwd', 'a/../b', '@scope', 'a b', ''])
      await assert.rejects(
        free.run({ ...engine, code: '1', preload: [wrong] }),
        (error: LazaretError) => error.code === 'INVALID_REQUEST',
      )
    const { level } = await free.probe()
    if (level === 'restricted') return
    const { value } = await runWarm(free, 'require("common").at <= input', ['common'])
    assert.equal(value, true)
  })

  test('that are missing or broken are named in the error of a warm-up', async () => {
    await using lazaret = open({ access: { preload: true } })
    for (const [name, reason] of Object.entries({ missing: /missing/, broken: /broken/ }))
      await assert.rejects(lazaret.warmUp({ ...engine, preload: [name] }), (error: LazaretError) => {
        assert.equal(error.code, 'RUNTIME_UNAVAILABLE')
        assert.match(error.message, reason)
        return true
      })
  })

  test('leave no random numbers that two runs would share', async () => {
    await using lazaret = open({ preload: { node: ['random'] } })
    const { level } = await lazaret.probe()
    if (level === 'restricted') return
    const drawn = new Set<string>()
    const code =
      'const c = require("node:crypto"); [Math.random(), c.randomUUID(), c.randomInt(2 ** 47)].map(String)'
    const runs = 10
    for (let run = 0; run < runs; run++)
      for (const one of (await runWarm(lazaret, code)).value as string[]) drawn.add(one)
    assert.equal(drawn.size, 3 * runs)
  })

  test('change nothing about rejections that nobody handles', async () => {
    await using lazaret = open({ preload: { node: names } })
    const { level } = await lazaret.probe()
    if (level === 'restricted') return
    await lazaret.warmUp(engine)
    const code =
      'Promise.reject(new Error("lost")); await new Promise((done) => setTimeout(done, 200)); console.log("late")'
    const { outcome, stdout } = await lazaret.run({ ...engine, code })
    assert.deepEqual([outcome.kind, stdout], ['failed', ''])
  })

  test('that start threads are loaded by each worker separately, and the reason is reported', async () => {
    await using lazaret = open({ preload: { node: ['worker'] } })
    const { level } = await lazaret.probe()
    if (level === 'restricted' || process.arch !== 'x64') return
    events.length = 0
    await lazaret.warmUp(engine)
    const reasons = events.flatMap((event) => (event.type === 'zygote-failing' ? [event.reason] : []))
    assert.deepEqual([reasons.length, /park its threads/.test(reasons[0] ?? '')], [1, true], reasons[0])
  })

  test('do not include those of Python', async () => {
    await using lazaret = open({ preload: ['statistics'] })
    events.length = 0
    await runWarm(lazaret, '1')
    assert.deepEqual(
      events.filter(({ type }) => type.endsWith('failing')),
      [],
    )
  })
}
