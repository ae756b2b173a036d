/** The plan of test passes: no file is omitted or runs twice, and files without a rule run everywhere. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { levelsOf, lists } from '../../scripts/testing/plan/levels.ts'
import type { Level } from '../../scripts/testing/plan/levels.ts'
import { planPasses } from '../../scripts/testing/plan/passes.ts'
import type { Pass, Run } from '../../scripts/testing/plan/passes.ts'
import { planProcesses } from '../../scripts/testing/plan/processes.ts'
import { classOf } from '../../scripts/testing/plan/test-class.ts'
import { listFiles } from '../support/sources/checkout.ts'

const files = ['test', 'test-deep'].flatMap((folder) => listFiles(folder, ['.test.ts']))
const everyLevel: readonly Level[] = [
  'started',
  'plain user',
  'started, without namespaces',
  'plain user, without namespaces',
  'started, on the oldest Node',
  'plain user, on the oldest Node',
]
const isWide = (file: string) => file.startsWith('test-deep/wide/')

function planOf(isRoot: boolean, run: Run): Pass[] {
  return planPasses({ run, filters: [], isRoot })
}

/** The files by situation, such as `root` or `plain user without namespaces, on the oldest Node`. */
function filesBySituation(passes: readonly Pass[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { userId, isOnOldest, isInForks, lacking, files: some } of passes) {
    const situation = JSON.stringify({ userId, isOnOldest, isInForks, lacking })
    found.set(situation, [...(found.get(situation) ?? []), ...some])
  }
  return found
}

for (const isRoot of [true, false]) {
  const who = isRoot ? 'root' : 'a plain user'

  test(`every test file runs as ${who} in a run of all tests`, () => {
    const [started] = filesBySituation(planOf(isRoot, 'all')).values()
    assert.deepEqual(started?.toSorted(), files.filter((file) => !isWide(file)).toSorted())
    const [all] = filesBySituation(planOf(isRoot, 'wide')).values()
    assert.deepEqual(all?.toSorted(), files.toSorted())
  })

  for (const run of ['daily', 'ci', 'all', 'wide'] as const)
    test(`no file runs twice in one situation when ${who} runs ${run}`, () => {
      for (const [situation, some] of filesBySituation(planOf(isRoot, run)))
        assert.equal(new Set(some).size, some.length, situation)
    })

  test(`npm test of ${who} has one pass, which measures no time`, () => {
    const [pass, ...others] = planOf(isRoot, 'daily')
    assert.equal(others.length, 0)
    assert.deepEqual(
      pass?.files.filter((file) => file.endsWith('.timing.test.ts')),
      [],
    )
  })
}

test('tests that measure time run alone', () => {
  for (const { files: some, processes } of planOf(true, 'all'))
    if (some.some((file) => file.endsWith('.timing.test.ts'))) assert.equal(processes, 1)
})

test('each file runs at every level where it means something', () => {
  const passes = planOf(true, 'all')
  for (const file of files.filter((one) => !isWide(one))) {
    assert.equal(passes.filter((pass) => pass.files.includes(file)).length, levelsOf(file).length, file)
  }
})

test('a file on no list runs at every level', () => {
  assert.deepEqual(levelsOf('test/new/new.test.ts', 'alone'), everyLevel)
  assert.deepEqual(levelsOf('test/new.test.ts', 'shared'), everyLevel)
})

test('tests that depend on the wall but not on the user run once with namespaces, and once without', () => {
  for (const file of lists.sameForEveryOwner) {
    const [started, ...others] = levelsOf(file).filter((level) => !/Node|forks/.test(level))
    assert.deepEqual([started, others], ['started', ['plain user, without namespaces']], file)
  }
})

test('every level has files, including attacks from forks', () => {
  const levels = new Set(files.flatMap((file) => levelsOf(file)))
  const wanted: readonly Level[] = [...everyLevel, 'started, in forks', 'plain user, in forks']
  assert.deepEqual(
    wanted.filter((level) => !levels.has(level)),
    [],
  )
})

test('a pure file runs for one user, on this Node and on the oldest', () => {
  assert.deepEqual(levelsOf('test/new/new.test.ts', 'pure'), ['started', 'started, on the oldest Node'])
})

test('every place on a list has files', () => {
  const places = Object.values(lists).flat()
  assert.deepEqual(
    places.filter((place) => !files.some((file) => file.startsWith(place))),
    [],
  )
})

test('every file runs in one process, its own or a shared one', () => {
  const planned = planProcesses(files).flatMap((one) => one.files)
  assert.deepEqual(planned.toSorted(), files.toSorted())
})

test('a file that starts processes, threads or cells, even indirectly, is not pure', () => {
  const direct = {
    'test/jail/machine/socket-search.test.ts': 'by turns',
    'test/jail/machine/uid-range.test.ts': 'alone',
    'test/pool/threads.test.ts': 'by turns',
    'test/sandbox/lifecycle/failed-end.test.ts': 'alone',
    'test-deep/hundred-sandboxes.test.ts': 'alone',
    'test/readme.test.ts': 'by turns',
    'test/sandbox/commands/exec.test.ts': 'by turns',
    'test/escape/kernel/setuid.test.ts': 'shared',
    'test/jail/plan/landlock.test.ts': 'pure',
  }
  for (const [file, expected] of Object.entries(direct)) assert.equal(classOf(file), expected, file)
})
