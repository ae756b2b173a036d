/** Programs find the files of their request in the same way however they start. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lazaret, RunRequest, RunResult } from '../../../src/index.ts'
import { withLazaret } from '../../support/parked-workers.ts'
import { warmUpFor } from '../../support/run-parked.ts'
import { bun, node, useLazaret } from '../../support/use-lazaret.ts'

const { lazaret: coldly } = await useLazaret()

const files = {
  'node_modules/@o/lib/package.json': '{"name":"@o/lib","exports":{".":"./m.mjs","./sub":"./m.mjs"}}',
  'node_modules/@o/lib/m.mjs': 'export const a = 1',
  'node_modules/lib/package.json':
    '{"name":"lib","exports":{".":"./m.mjs","./sub":{"require":"./c.cjs","import":"./m.mjs"},"./package.json":"./package.json"}}',
  'node_modules/lib/m.mjs': 'export const a = 1',
  'node_modules/lib/c.cjs': 'exports.a = 1',
  'node_modules/plain/deep/file.mjs': "import { a } from '@o/lib/sub'\nexport { a }",
  'node_modules/plain/deep/index.js': 'exports.a = 1',
  'node_modules/.hidden/index.js': 'exports.a = 1',
  'package.json': '{"name":"self","exports":{"./x":"./src/x.mjs"},"imports":{"#inner":"./src/x.mjs"}}',
  'src/x.mjs': "export { a } from 'lib/sub'",
  'src/node_modules/near/n.js': 'exports.a = 1',
  'src/y.cjs': "exports.a = require('near/n').a",
}

/** Each has the value 1. Once a bare name has been resolved, the subpaths of its package are found too: so one form a run. */
const programs = [
  "import { a } from '@o/lib'\na",
  "import { a } from 'lib/sub'\na",
  "import { a } from 'self/x'\na",
  "import { a } from '#inner'\na",
  "import { a } from 'plain/deep/file.mjs'\na",
  "import p from 'lib/package.json' with { type: 'json' }\np.name.length - 2",
  "(await import('@o/lib/sub')).a",
  "require('lib/sub').a",
  "require('plain/deep').a",
  "require('./src/y.cjs').a",
  "require('.hidden').a",
  "require.resolve('lib/sub').endsWith('c.cjs') ? 1 : 0",
  "import.meta.resolve('@o/lib/sub').endsWith('m.mjs') ? 1 : 0",
  "import { createRequire } from 'node:module'\ncreateRequire(import.meta.url)('lib/sub').a",
]

const guests = [bun, node]
const unforked = { pools: { bun: { forks: false }, node: { forks: false } } }

/** The results of the requests in each kind of start. */
async function inEveryStart(requests: readonly RunRequest[]): Promise<RunResult[][]> {
  const results = [await resultsOf(requests, coldly)]
  for (const options of [{}, unforked])
    await withLazaret(options, async (lazaret) => {
      results.push(await resultsOf(requests, lazaret, true))
    })
  return results
}

async function resultsOf(requests: readonly RunRequest[], lazaret: Lazaret, isWarm = false) {
  const results: RunResult[] = []
  for (const request of requests) {
    if (isWarm) await warmUpFor(lazaret, request)
    results.push(await lazaret.run(request))
  }
  return results
}

test('packages of the request are resolved in every start', async () => {
  const requests = guests.flatMap((guest) => programs.map((code) => ({ ...guest, code, files })))
  const [cold = [], ...warm] = await inEveryStart(requests)
  for (const results of [cold, ...warm])
    for (const [index, { value, outcome, receipt }] of results.entries())
      assert.deepEqual(
        [value, outcome.kind, receipt.start === 'cold'],
        [1, 'completed', results === cold],
        `${receipt.start}, ${receipt.runtime}: ${requests[index]?.code}`,
      )
})

test('a request whose files Bun reads at its start starts cold, even if workers wait', async () => {
  const code = '[process.env.FOO, process.env.LOCAL, globalThis.early]'
  const read = {
    '.env': 'FOO=bar',
    '.env.local': 'LOCAL=1',
    'bunfig.toml': 'preload = ["./p.js"]',
    'p.js': 'globalThis.early = 1',
  }
  for (const [result] of await inEveryStart([{ ...bun, code, files: read }]))
    assert.deepEqual([result?.value, result?.receipt.start], [['bar', '1', 1], 'cold'])
})

test('a worker that waits elsewhere runs its program in the workspace', async () => {
  const code =
    '[process.cwd(), __dirname, import.meta.dirname, process.env.PWD, require("fs").realpathSync(".")]'
  const results = await inEveryStart(guests.map((guest) => ({ ...guest, code })))
  const [cold, ...warm] = results.map((each) => each.map(({ value }) => value))
  for (const values of warm) assert.deepEqual(values, cold)
})
