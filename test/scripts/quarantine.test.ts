/** What may be quarantined or skipped: little, by name, with a reason, and not for ever. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { neededNoMore, unknownSkips } from '../../scripts/testing/plan/skips.ts'
import { problemsOf, withQuarantine } from '../../scripts/testing/quarantine.ts'
import { noResults } from '../../scripts/testing/results.ts'

const entry = {
  test: 'test/a.test.ts: is slow',
  reason: 'it waits for the network',
  owner: 'ada',
  since: '2026-11-01',
  until: '2026-11-14',
}
const at = (day: string) => Date.parse(day)

test('an entry of the quarantine ends after 14 days, and needs a reason and an owner', () => {
  assert.deepEqual(problemsOf([entry], at('2026-11-14')), [])
  assert.match(problemsOf([entry], at('2026-11-16')).join(), /has ended on 2026-11-14/)
  for (const wrong of [{ until: '2026-11-16' }, { until: 'later' }, { reason: '' }, { owner: '' }])
    assert.match(problemsOf([{ ...entry, ...wrong }], at('2026-11-02')).join(), /at most 14 days/)
  const attack = { ...entry, test: 'test/escape/kernel/setuid.test.ts: no' }
  assert.match(problemsOf([attack], at('2026-11-02')).join(), /an attack/)
})

test('a quarantined test cannot fail, unless it hangs, leaks or crashes', () => {
  const failing = (reason: string) => ({
    ...noResults,
    failed: 1,
    failures: [entry.test],
    reasons: { [entry.test]: reason },
  })
  const { failed, flaky } = withQuarantine(failing('"1 !== 2"'), [entry])
  assert.deepEqual({ failed, flaky }, { failed: 0, flaky: [entry.test] })
  for (const reason of ['"left behind: /tmp/x"', '"test timed out after 120000ms"'])
    assert.equal(withQuarantine(failing(reason), [entry]).failed, 1, reason)
})

test('a skip is explained by its name and its reason, or by a missing package', () => {
  const skipped = { name: 'test/a.test.ts: as root', reason: 'only root may' }
  const known = { test: skipped.name, reason: skipped.reason, levels: ['plain user' as const] }
  const part = (level: 'started' | 'plain user', some = [skipped]) => ({
    name: level,
    seconds: 1,
    level,
    files: ['test/a.test.ts'],
    results: { ...noResults, skipped: some },
  })
  const none = () => false
  assert.deepEqual(unknownSkips([part('plain user')], [known], none), [])
  const longer = [{ ...skipped, reason: `${skipped.reason}: EACCES` }]
  assert.deepEqual(unknownSkips([part('plain user', longer)], [known], none), [])
  const other = [{ ...skipped, name: 'test/a.test.ts: another' }]
  assert.equal(unknownSkips([part('plain user', other)], [known], none).length, 1)
  assert.equal(unknownSkips([part('plain user', [{ ...skipped, reason: 'tired' }])], [known], none).length, 1)
  assert.deepEqual(
    unknownSkips([part('started')], [known], () => true),
    [],
  )
  assert.deepEqual(neededNoMore([part('plain user')], [known]), [])
  assert.deepEqual(neededNoMore([part('plain user', [])], [known]), ['  plain user: test/a.test.ts: as root'])
  assert.deepEqual(neededNoMore([part('started', [])], [known]), [])
})
