/**
 * A snippet tries to reach more than the language and its two bindings. Each attempt must have the result that it
 * has in an empty environment, no answer may show anything of the host, and the graph of all objects that a
 * program can reach must be the reviewed one.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import { endSnippetThreads, runSnippet } from '../../../src/adapters/snippet-tool/index.ts'
import type { SnippetRequest, SnippetResult } from '../../../src/adapters/snippet-tool/index.ts'
import { checkoutRoot, readText } from '../../support/sources/checkout.ts'
import { endlessThrows, hostileThrows } from '../../support/hostile/hostile-throws.ts'
import { describeGraphSource } from '../../support/hostile/snippet-graph.ts'
import {
  attempts,
  findStrangers,
  loneStatements,
  namesOfOthers,
  stackLooks,
} from '../../support/hostile/snippet-attempts.ts'

after(endSnippetThreads)

/** Traces of the host: paths, functions in WebAssembly, and names of this project. */
const traces =
  /file:|node:|node_modules|snippet[-/]|\.(ts|js|mjs|wasm)\b|wasm|\/src\/|\/dist\/|quickjs|Worker/

async function attempt(request: SnippetRequest): Promise<SnippetResult> {
  const result = await runSnippet({ limits: { wall_ms: 60_000, output_kb: 1024 }, ...request })
  assert.doesNotMatch(JSON.stringify(result), traces)
  return result
}

describe('the graph of reachable objects', () => {
  const graphFile = 'docs/internals/snippet-graph.txt'

  test('has been reviewed: every object, function and property that a program can reach', async () => {
    const { output = '', error } = await attempt({ source: describeGraphSource })
    assert.equal(error, undefined)
    // After a review of the engine's changes: WRITE_SNIPPET_GRAPH=1 node --test test/escape/engines/snippet-reach.test.ts
    if (process.env['WRITE_SNIPPET_GRAPH'] === '1') writeFileSync(join(checkoutRoot, graphFile), output)
    assert.deepEqual(output.split('\n'), readText(graphFile).split('\n'))
  })

  test('contains no names from outside', async () => {
    const source = `const names = JSON.parse(read_input())
      emit(names.filter((name) => name in globalThis || Object.getOwnPropertyDescriptor(globalThis, name)).join())`
    assert.deepEqual(await attempt({ source, input: JSON.stringify(namesOfOthers) }), { output: '' })
    const typeofs = namesOfOthers.map((name) => `typeof ${name}`).join()
    assert.deepEqual(await attempt({ source: `emit(new Set([${typeofs}]).size + typeof require)` }), {
      output: '1undefined',
    })
  })
})

describe('a failing attempt', () => {
  for (const [source, expected] of Object.entries(attempts))
    test(source, async () => {
      const program = `try { emit(String(eval_())) } catch (thrown) { emit(String(thrown)) } function eval_() { ${source} }`
      assert.deepEqual(await attempt({ source: program }), { output: expected })
    })

  for (const look of stackLooks)
    test(`to find a function of the host on the stack: ${look}`, async () => {
      const { output = '', error } = await attempt({ source: findStrangers(look) })
      assert.equal(error, undefined)
      const { seen, strangers } = JSON.parse(output.split('\n').at(-1) ?? '')
      assert.deepEqual(strangers, [])
      assert.ok(seen > 0, 'it saw no function at all')
    })

  for (const [source, expected] of Object.entries(loneStatements))
    test(source, async () => {
      const { output, error } = await attempt({ source })
      assert.equal(output ?? error?.message.replace(/ \(<code>:\d+:\d+\).*$/, ''), expected)
    })
})

describe('a thrown value', () => {
  for (const source of hostileThrows)
    test(`becomes an answer: ${source}`, async () => {
      const { error } = await attempt({ source })
      // The attempt that defines a function and throws nothing.
      if (source.endsWith('finally { f() } })')) assert.equal(error, undefined)
      else assert.match(error?.code ?? '', /^(EVAL_ERROR|MEMORY_LIMIT)$/)
      assert.ok((error?.message.length ?? 0) < 17_000)
    })

  for (const source of endlessThrows)
    test(`does not outlast the deadline: ${source}`, async () => {
      const { error } = await attempt({ source, limits: { wall_ms: 100 } })
      assert.equal(error?.code, 'TIMEOUT')
    })
})

test('afterwards a thread serves a program that sees nothing of it', async () => {
  assert.deepEqual(
    await attempt({ source: 'emit(Object.keys(globalThis).join() + read_input())', input: '.' }),
    {
      output: '.',
    },
  )
})
