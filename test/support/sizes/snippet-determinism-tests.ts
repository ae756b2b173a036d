/** The same tests in several sizes: a program and its input give the same output on every host, in every order. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import fc from '../fast-check.ts'

import type { SnippetResult } from '../../../src/adapters/snippet-tool/index.ts'
import { anySnippet } from '../hostile/any-snippet.ts'
import { checkoutRoot } from '../sources/checkout.ts'
import { seededRandom } from '../seeded-random.ts'

/** The ways in which hosts of snippets may differ. */
const hosts = {
  'in another order, time zone and language': {
    flags: [],
    env: { TZ: 'Pacific/Chatham', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
  },
  'with options of Node that change the language and its memory': {
    flags: [],
    env: {
      TZ: 'America/St_Johns',
      NODE_OPTIONS: '--disable-proto=throw --stack-trace-limit=3 --max-old-space-size=512',
    },
  },
  'by machine code of the other compiler': { flags: ['--liftoff', '--no-wasm-tier-up'], env: {} },
  'on a smaller stack, with a fixed seed': {
    flags: ['--stack-size=300', '--random-seed=1', '--predictable-gc-schedule'],
    env: {},
  },
}

/** `programCount` is at most 1,000, because no more may wait for a thread. */
export function testDeterminism(programCount: number, seed: number): void {
  const programs = fc.sample(anySnippet, { numRuns: programCount, seed })
  const usual = runAll(programs, { flags: [], env: {} })

  for (const [what, host] of Object.entries(hosts))
    test(`${programCount} programs have the same ${what}`, async () => {
      const order = shuffle(
        programs.map((_, index) => index),
        seed,
      )
      const results = await runAll(
        order.map((index) => programs[index] ?? ''),
        host,
      )
      const expected = await usual
      for (const [place, index] of order.entries())
        assert.deepEqual(results[place], expected[index], `LAZARET_TEST_SEED=${seed}\n${programs[index]}`)
    })

  test('most of them run to their end, some fail, and none has to be ended', async () => {
    const codes = Map.groupBy(await usual, ({ error }) => error?.code ?? 'none')
    assert.ok((codes.get('none')?.length ?? 0) > programCount / 2)
    assert.ok((codes.get('EVAL_ERROR')?.length ?? 0) > programCount / 100)
    assert.equal(codes.get('TIMEOUT'), undefined)
  })
}

interface Host {
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

async function runAll(sources: readonly string[], { flags, env }: Host): Promise<SnippetResult[]> {
  const child = spawn(
    process.execPath,
    [...flags, join(checkoutRoot, 'test/support/sizes/snippet-outputs.ts')],
    {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  child.stdin.end(JSON.stringify(sources))
  return JSON.parse(await text(child.stdout))
}

function shuffle(items: number[], seed: number): number[] {
  const random = seededRandom(seed)
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ item }) => item)
}
