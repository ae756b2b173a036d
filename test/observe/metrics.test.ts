/** The page for Prometheus, read with a parser of its format. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'
import { heldKinds } from '../../src/core/host-account.ts'
import { LazaretMetrics } from '../../src/observe/metrics/index.ts'

interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly metrics: readonly {
    readonly value?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly buckets?: Readonly<Record<string, string>>
  }[]
}

// The package has no type declarations.
const parse = createRequire(import.meta.url)('parse-prometheus-text-format') as (page: string) => Family[]

test('the metrics contain runs, refusals, durations, queues and pools, but no names of clients', async () => {
  const metrics = new LazaretMetrics()
  const admit = ({ client }: { readonly client?: string | undefined }) => client !== 'mallory'
  await using lazaret = createLazaret({ onEvent: metrics.hear, admit })
  await lazaret.run({ language: 'shell', code: 'exit 3', client: 'ada "\n{}' })
  await lazaret.run({ language: 'shell', code: ':' })
  await lazaret.run({ language: 'javascript', code: 'emit(1)', runtime: 'snippet' })
  await assert.rejects(lazaret.run({ language: 'shell', code: ':', client: 'mallory' }), {
    code: 'NOT_ADMITTED',
  })

  const page = await metrics.page(lazaret)
  assert.ok(!page.includes('ada') && !page.includes('mallory'))
  const families = new Map(parse(page).map((family) => [family.name, family]))
  const valuesOf = (name: string) =>
    families.get(name)?.metrics.map(({ labels, value }) => [labels, value]) ?? []
  assert.deepEqual(valuesOf('lazaret_runs_total'), [
    [{ runtime: 'shell', outcome: 'completed', client_class: 'named' }, '1'],
    [{ runtime: 'shell', outcome: 'completed', client_class: 'anonymous' }, '1'],
    [{ runtime: 'snippet', outcome: 'completed', client_class: 'anonymous' }, '1'],
  ])
  assert.deepEqual(valuesOf('lazaret_refusals_total'), [[{ kind: 'run', code: 'NOT_ADMITTED' }, '1']])
  assert.deepEqual(valuesOf('lazaret_runs_running'), [[undefined, '0']])
  for (const [name, count] of [
    ['lazaret_work_duration_seconds', '3'],
    ['lazaret_run_queued_seconds', '3'],
  ] as const) {
    const family = families.get(name)
    assert.equal(family?.type, 'HISTOGRAM')
    assert.equal(family.metrics[0]?.buckets?.['+Inf'], count)
  }
  const [pool] = families.get('lazaret_pool_workers')?.metrics ?? []
  assert.deepEqual(Object.keys(pool?.labels ?? {}), ['runtime', 'language', 'state'])
  assert.equal(families.get('lazaret_pool_workers')?.type, 'GAUGE')
  const kinds = families.get('lazaret_held_bytes')?.metrics.map(({ labels }) => labels?.['kind'])
  assert.deepEqual(kinds, heldKinds)
  // A second request must not count current values twice.
  const again = parse(await metrics.page(lazaret)).find(({ name }) => name === 'lazaret_pool_runs')
  assert.deepEqual(again, families.get('lazaret_pool_runs'))
})
