/** The tool as agents get it: its schemas describe what its parser accepts and what it answers. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import fc from '../../support/fast-check.ts'
import { z } from 'zod'

import { endSnippetThreads, snippetTool } from '../../../src/adapters/snippet-tool/index.ts'
import { InvalidSnippet, parseSnippet } from '../../../src/adapters/snippet-tool/parse-snippet.ts'

after(endSnippetThreads)

const asSchema = (schema: object) => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
const inputSchema = asSchema(snippetTool.inputSchema)
const outputSchema = asSchema(snippetTool.outputSchema)

function isTaken(request: unknown): boolean {
  try {
    parseSnippet(request)
    return true
  } catch (error) {
    assert.ok(error instanceof InvalidSnippet)
    return false
  }
}

/** Usually nearly valid values, and sometimes anything else. */
const mostly = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary }, { weight: 1, arbitrary: fc.jsonValue() })
const nearCount = (max: number) =>
  fc.oneof(fc.integer({ min: -1, max: max + 2 }), fc.constantFrom(0, 1, 1.5, max, max + 1, 0.5, 1e21))
const request = fc.record(
  {
    source: mostly(fc.string()),
    input: mostly(fc.string()),
    limits: mostly(
      fc.record(
        { wall_ms: mostly(nearCount(60_000)), output_kb: mostly(nearCount(16_384)), other: fc.jsonValue() },
        { requiredKeys: [] },
      ),
    ),
    other: fc.jsonValue(),
  },
  { requiredKeys: [] },
)

test('it has the name and the properties that tool lists need', () => {
  assert.match(snippetTool.name, /^[a-zA-Z0-9_-]{1,64}$/)
  assert.deepEqual([snippetTool.name, snippetTool.id], ['run_snippet', 'code.sandbox.js.run'])
  assert.ok(snippetTool.description.length > 100)
  assert.deepEqual(JSON.parse(JSON.stringify(snippetTool)), {
    name: snippetTool.name,
    id: snippetTool.id,
    description: snippetTool.description,
    inputSchema: snippetTool.inputSchema,
    outputSchema: snippetTool.outputSchema,
  })
})

test('its schema and its parser accept the same requests', () => {
  const seen = { taken: 0, refused: 0 }
  const property = fc.property(mostly(request), (value) => {
    const taken = isTaken(value)
    seen[taken ? 'taken' : 'refused']++
    assert.equal(inputSchema.safeParse(value).success, taken)
  })
  fc.assert(property, { numRuns: 5000 })
  assert.ok(seen.taken > 100 && seen.refused > 100, JSON.stringify(seen))
})

test('its answers conform to the schema, whatever a model wrote', async () => {
  const sources = [
    'emit(1)',
    'throw 1',
    'for (;;);',
    'emit("x".repeat(1e5))',
    '(',
    'for (const h = [];;) h.push(Array(1e6))',
  ]
  const any = fc.record({
    source: mostly(fc.constantFrom(...sources)),
    limits: fc.constant({ wall_ms: 300, output_kb: 1 }),
    input: mostly(fc.string()),
  })
  const codes = new Set<string>()
  for (const value of [...fc.sample(mostly(any), 24), ...sources.map((source) => ({ source }))]) {
    const result = await snippetTool.run(value)
    assert.ok(outputSchema.safeParse(result).success, JSON.stringify(result))
    assert.deepEqual(JSON.parse(JSON.stringify(result)), result)
    codes.add(result.error?.code ?? 'none')
  }
  assert.ok(codes.size >= 5, [...codes].join())
})

test('requests of a model are deterministic, whatever they ask for', async () => {
  const source = 'emit(Date.now() + " " + Math.random())'
  const plain = await snippetTool.run({ source })
  assert.match(plain.output ?? '', /^0 0\.\d+$/)
  assert.deepEqual(await snippetTool.run({ source, clock: 'real', randomness: 'real' }), plain)
})

test('it can be stopped', async () => {
  const signal = AbortSignal.abort(new Error('enough'))
  await assert.rejects(snippetTool.run({ source: 'for (;;);' }, { signal }), { message: 'enough' })
})

test('asynchronous code gets an error that says what is missing', async () => {
  for (const source of [
    'async function main() { emit(1) } main()',
    'emit(await 1)',
    '[1].map(async (x) => x)',
  ])
    assert.match(
      (await snippetTool.run({ source })).error?.message ?? '',
      /a snippet has no promises/,
      source,
    )
  const { error } = await snippetTool.run({ source: 'null()' })
  assert.doesNotMatch(error?.message ?? '', /promises/)
})

test('a request that throws when it is read is reported as invalid', async () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const throwing = {
    source: 'emit(1)',
    get input(): string {
      throw new Error('mine')
    },
  }
  for (const wrong of [throwing, revoked.proxy, [], Object.create(null)])
    assert.equal((await snippetTool.run(wrong)).error?.code, 'INVALID_INPUT')
  // Unknown properties of a request are not read.
  const beside = Object.defineProperty({ source: 'emit(1)' }, 'other', {
    enumerable: true,
    get: () => assert.fail(),
  })
  assert.deepEqual(await snippetTool.run(beside), { output: '1' })
})
