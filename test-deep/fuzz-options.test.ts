/**
 * Options of system calls from inside runs, while the host watches what it shares with them: first the corpus of known
 * attacks, then new programs for six seconds. `npm run fuzz:options` does this for longer. The watch itself is
 * tested, too: it must notice what a program without a wall does.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

import { AllowedValues } from '../scripts/option-fuzzing/allowed-values.ts'
import { readCorpus } from '../scripts/option-fuzzing/corpus.ts'
import { generateProgram } from '../scripts/option-fuzzing/generate.ts'
import { listSuspicions } from '../scripts/option-fuzzing/judge.ts'
import { minimise } from '../scripts/option-fuzzing/minimise.ts'
import { observe } from '../scripts/option-fuzzing/observe.ts'
import { parseProgram, printProgram } from '../scripts/option-fuzzing/program.ts'
import { createLazaret } from '../test/support/create-lazaret.ts'
import { argumentRules } from '../src/jail/seccomp/argument-rules.ts'
import { testOptionFuzzing } from '../test/support/sizes/option-fuzzing-tests.ts'
import { drawSeed } from '../test/support/seed.ts'
import { seededRandom } from '../test/support/seeded-random.ts'

const seconds = 6
const seed = drawSeed()
const allowed = new AllowedValues(argumentRules)

test('the same seed and iteration make the same program, and others make others', () => {
  const print = (from: number, iteration: number) => printProgram(generateProgram(from, iteration, allowed))
  assert.equal(print(seed, 7), print(seed, 7))
  assert.notEqual(print(seed, 7), print(seed, 8))
  assert.notEqual(print(seed, 7), print(seed + 1, 7))
})

test('a printed program is read as the same program', () => {
  const programs = [generateProgram(seed, 1, allowed), ...readCorpus().map(({ program }) => program)]
  for (const program of programs) assert.deepEqual(parseProgram(printProgram(program)), program)
})

test('values that the rules allow are listed in the rules', () => {
  const numbers = { x64: 54, arm64: 208 }
  const one = { name: 'one', numbers, action: 'EPERM', reason: 'A test.' } as const
  const values = new AllowedValues([
    { ...one, tests: [{ argument: 0, isNoneOf: [5] }] },
    {
      ...one,
      tests: [
        { argument: 0, isOneOf: [5] },
        { argument: 1, isNoneOf: [8, 9] },
      ],
    },
    { ...one, tests: [{ argument: 2, mask: ~0x300, isNoneOf: [0] }] },
    { ...one, tests: [{ argument: 2, mask: 0xf, isNoneOf: [0, 7] }] },
  ])
  const random = seededRandom(seed)
  for (let time = 0; time < 100; time++) {
    const chosen = values.choose('one', random)
    assert.equal(chosen.get(0), 5)
    assert.ok([8, 9].includes(chosen.get(1) ?? 0))
  }
  assert.deepEqual(values.names, ['one'])
})

test('a program is reduced while its behaviour stays the same', async () => {
  const program = parseProgram('process\nclose 1\nclose 2\ns = socket 2 1 0\nclose 3\nprocess\nclose 4')
  const smallest = await minimise({
    program,
    stillMoves: async (candidate) => printProgram(candidate).includes('socket'),
    attemptsMax: 24,
  })
  assert.deepEqual(
    smallest.flatMap(({ calls }) => calls.map(({ name }) => name)),
    ['socket'],
  )
})

/** A host program without limits. It takes a little more than a run may, and returns it at its end. */
const take = `
import fcntl, sys, tempfile
files = [tempfile.TemporaryFile() for _ in range(50)]
for file in files:
    for at in range(0, 2800, 2): fcntl.lockf(file, fcntl.LOCK_EX, 1, at)
print('held', flush=True)
sys.stdin.read()`

/** Other tests may return as many locks meanwhile, but hardly three times in a row. */
const attemptsMax = 3

test('the watch detects which kernel resources an unconfined program takes', async () => {
  await using lazaret = createLazaret()
  const harmless = await lazaret.run({ language: 'shell', code: ':' })
  const watched = async () => {
    const child = spawn('python3', ['-c', take], { stdio: ['pipe', 'pipe', 'ignore'] })
    const exit = once(child, 'exit')
    await once(child.stdout, 'data')
    // The watch takes a reading meanwhile, however long that takes, because its timers are due before this one.
    await new Promise((resolve) => setTimeout(resolve, 500))
    child.stdin.end()
    await exit
    return harmless
  }
  let whats: string[] = []
  for (let attempts = 0; attempts < attemptsMax && whats.length === 0; attempts++) {
    const suspicions = listSuspicions(await observe(watched, () => []))
    whats = suspicions.map(({ what }) => what).filter((what) => what.includes('locks'))
  }
  assert.deepEqual(whats, ['file locks held'])
})

test('the watch detects a blocked event loop, and errors of other programs', async () => {
  await using lazaret = createLazaret()
  const harmless = await lazaret.run({ language: 'shell', code: ':' })
  const block = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    const endMs = performance.now() + 800
    while (performance.now() < endMs) continue
    await new Promise((resolve) => setTimeout(resolve, 50))
    return harmless
  }
  let isOver = false
  const complaints = () => {
    const complaint = isOver ? ['a neighbour: no answer'] : []
    isOver = true
    return complaint
  }
  const whats = listSuspicions(await observe(block, complaints)).map(({ what }) => what)
  assert.deepEqual(whats.slice(-2), ['the event loop was blocked', 'a neighbour suffered'])
})

testOptionFuzzing(seconds)
