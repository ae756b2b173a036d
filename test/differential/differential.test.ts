/** A few programs in every way that Lazaret can run them; `test-deep/wide/differential/` has two thousand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { fixedSeed } from '../support/seed.ts'
import { levelHere } from '../support/machine/level-here.ts'
import { LeakCheck } from '../support/machine/leaks.ts'
import { programOf } from './corpus.ts'
import { differences } from './differences.ts'
import { assemble, drawParts, generate } from './generate.ts'
import { explain, judgeAll } from './judge.ts'
import { engines } from './program.ts'
import type { Program } from './program.ts'
import { describeFinding, shrink } from './shrink.ts'
import { openWays } from './ways.ts'
import type { Ways } from './ways.ts'

/** What once had another result in one of the ways. */
const onceDifferent: readonly Program[] = [
  programOf('python', 'line ends of stdin', {
    code: 'import sys\nprint(repr(sys.stdin.read()), sys.stdin.newlines)',
    stdin: 'a\r\nb\rc\n',
  }),
  programOf('python', 'an exit code that is too long for C', { code: 'raise SystemExit(2 ** 70)' }),
  programOf('bun', 'packages with scopes and subpaths', {
    code: "import { a } from '@o/lib'\nimport b from 'lib/sub'\nconsole.log(a, b)",
    files: {
      'node_modules/@o/lib/package.json': '{"exports":"./m.mjs"}',
      'node_modules/@o/lib/m.mjs': 'export const a = 1',
      'node_modules/lib/package.json': '{"exports":{"./sub":"./s.mjs"}}',
      'node_modules/lib/s.mjs': 'export default 2',
    },
  }),
  programOf('bun', 'a file that Bun reads at its start', {
    code: 'console.log(process.env.FOO)',
    files: { '.env': 'FOO=bar' },
  }),
]
const skip = (await levelHere()) === 'restricted' && 'a context needs namespaces'

test('a difference that no row explains is found, made small, and told with the command for it', async () => {
  const [name, parts] = ['generated: 1/7', drawParts('shell', 1, 7)] as const
  const [first] = parts
  assert.ok(parts.length > 1 && first !== undefined)
  // One way says something else about programs with the first part.
  const lying: Ways = {
    runCold: async () => ({ stdout: 'something' }),
    run: async ({ request }, way) =>
      way === 'forked' ? { stdout: request.code.includes(first.code) ? 'nothing' : 'something' } : undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
  const { undocumented, ran } = await judgeAll(lying, [assemble('shell', name, parts)])
  assert.deepEqual([undocumented.length, ran.forked, ran.parked], [1, 1, 0])
  const [finding] = undocumented
  assert.ok(finding !== undefined)
  const smallest = await shrink(lying, finding)
  assert.equal(smallest.program.request.code, first.code)
  assert.match(
    describeFinding(smallest),
    /again {4}npm run differ -- --engine shell --only 'generated: 1\/7'$/,
  )
})

test('a few programs of each engine have the same result in every way', { skip }, async () => {
  const leaks = new LeakCheck()
  await leaks.takeBaseline()
  {
    await using ways = await openWays()
    const programs = [...onceDifferent, ...engines.flatMap((engine) => generate(engine, fixedSeed, 1))]
    const { undocumented } = await judgeAll(ways, programs)
    assert.deepEqual(undocumented.map(describeFinding), [])
  }
  await leaks.checkDisposed()
})

test('the table has at most 40 rows, each with its reason, and no row explains what is the same', () => {
  assert.ok(differences.length <= 40)
  for (const { what, reason } of differences) assert.ok(what.length > 10 && reason.length > 10, what)
  const [program] = onceDifferent
  assert.ok(program !== undefined)
  const finding = {
    program,
    way: 'parked',
    field: 'stdout',
    expected: 'a',
    got: 'b',
    cold: {},
    seen: {},
  } as const
  assert.deepEqual(explain(finding), [])
})
