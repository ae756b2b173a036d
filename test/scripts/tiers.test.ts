/** Which tests run before a landing follows from what they cost and from what has changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { classify } from '../../scripts/testing/plan/changes.ts'
import { planPasses } from '../../scripts/testing/plan/passes.ts'
import { planTiers } from '../../scripts/testing/plan/tiers.ts'
import { mergeTimings, readTimings } from '../../scripts/testing/plan/timings.ts'
import { listFiles } from '../support/sources/checkout.ts'

const files = ['test', 'test-deep'].flatMap((folder) => listFiles(folder, ['.test.ts']))
const ciFiles = (...paths: readonly string[]) =>
  planPasses({ run: 'ci', filters: [], isRoot: true, change: { kind: classify(paths), paths } })

test('only documents are pages; walls win over other source; an unknown change is one of walls', () => {
  assert.equal(classify(['README.md', 'docs/guide/python.md']), 'pages')
  assert.equal(classify(['README.md', 'src/index.ts']), 'source')
  assert.equal(classify(['test/core/clock.test.ts']), 'source')
  assert.equal(classify(['src/index.ts', 'native/cell/main.c']), 'walls')
  assert.equal(classify(['src/jail/plan/mounts.ts']), 'walls')
  assert.equal(classify(undefined), 'walls')
})

test('each attack runs before each landing of code', () => {
  const [daily, rest] = ciFiles('src/index.ts')
  const all = [...(daily?.files ?? []), ...(rest?.files ?? [])]
  assert.deepEqual(
    files.filter(
      (file) => file.startsWith('test/escape/') && !file.endsWith('.timing.test.ts') && !all.includes(file),
    ),
    [],
  )
})

test('a change of walls is tried at the other levels, too', () => {
  const levels = new Set(ciFiles('native/cell/main.c').map(({ level }) => level))
  assert.ok(levels.has('plain user') && levels.has('plain user, without namespaces'))
  assert.ok(levels.has('started, in forks') && levels.has('started, on the oldest Node'))
  assert.deepEqual(new Set(ciFiles('src/index.ts').map(({ level }) => level)), new Set(['started']))
})

test('a changed test runs, whatever it costs', () => {
  const runs = (path: string) => ciFiles(path).some((pass) => pass.files.includes('test-deep/soak.test.ts'))
  assert.equal(runs('src/index.ts'), false)
  assert.equal(runs('test-deep/soak.test.ts'), true)
})

test('a budget takes the cheapest tests first, and those that were never measured', () => {
  const timings = {
    'test/cheap.test.ts': { cases: 1, ms: 500 },
    'test/costly.test.ts': { cases: 100, ms: 50_000 },
    'test/hopeless.test.ts': { cases: 1, ms: 900_000 },
    'test/escape/costly.test.ts': { cases: 1, ms: 200_000 },
    'test-deep/long.test.ts': { cases: 1, ms: 1 },
  }
  const some = [...Object.keys(timings), 'test/new.test.ts', 'test-deep/wide/many.test.ts']
  assert.deepEqual(Object.fromEntries(planTiers(some, timings)), {
    'test/cheap.test.ts': 'daily',
    'test/costly.test.ts': 'landing',
    'test/hopeless.test.ts': 'long',
    'test/escape/costly.test.ts': 'landing',
    'test-deep/long.test.ts': 'long',
    'test/new.test.ts': 'daily',
    'test-deep/wide/many.test.ts': 'wide',
  })
})

test('a recording keeps what has hardly changed, and forgets files that are gone', () => {
  const known = {
    'a.test.ts': { cases: 2, ms: 1000 },
    'b.test.ts': { cases: 2, ms: 1000 },
    'gone.test.ts': { cases: 1, ms: 1 },
  }
  const measured = { 'a.test.ts': { cases: 2, ms: 1100 }, 'b.test.ts': { cases: 2, ms: 2000 } }
  assert.deepEqual(mergeTimings(known, measured, ['a.test.ts', 'b.test.ts', 'c.test.ts']), {
    'a.test.ts': { cases: 2, ms: 1000 },
    'b.test.ts': { cases: 2, ms: 2000 },
  })
})

test('nearly every test file has been measured', () => {
  const timings = readTimings()
  const unknown = files.filter((file) => timings[file] === undefined && !file.startsWith('test-deep/'))
  assert.ok(unknown.length < files.length / 20, `npm run test:all -- --record: ${unknown.join(', ')}`)
})
