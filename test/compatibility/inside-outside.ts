/**
 * Runs each program of a table on the host and in a cell, and compares its output with the table: outside it must be
 * the same, inside the same or what a difference says. All run before the first test, a few at a time.
 */
import assert from 'node:assert/strict'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import type { RunResult } from '../../src/index.ts'
import { canStart, runOutside } from '../support/hosts/outside.ts'
import type { OutsideEnd } from '../support/hosts/outside.ts'
import { useLazaret } from '../support/use-lazaret.ts'
import type { GuestRuntime, TestLazaret } from '../support/use-lazaret.ts'
import { differenceAt } from './program.ts'
import type { CompatibilityProgram } from './program.ts'

export interface Ground {
  /** Its name in the titles of tests. */
  readonly name: string
  readonly guest: GuestRuntime
  /** The same interpreter on the host; null if there is none. */
  readonly interpreter: string | null
  /** The extension of a program's file. */
  readonly ending: string
  /** The interpreter in the cell, too, if it is not the default. */
  readonly toolchains?: { readonly python: string }
}

interface Ends {
  /** Undefined if the program was not run outside. */
  readonly outside: OutsideEnd | undefined
  readonly inside: RunResult
}

/** Programs at a time: more than a small machine's processors, because a start mostly waits. */
const concurrency = 3
/** Enough for the slowest, npm, on a busy machine. */
const wallMs = 60_000

/** Call once, in a separate test file. */
export async function tryPrograms(ground: Ground, programs: readonly CompatibilityProgram[]): Promise<void> {
  const { interpreter, toolchains } = ground
  if (interpreter === null || !canStart(interpreter)) {
    const skip = interpreter === null ? 'it is not installed' : `a plain user cannot start ${interpreter}`
    test(`every program for ${ground.name}`, { skip }, () => undefined)
    return
  }
  const guests = await useLazaret(toolchains === undefined ? {} : { toolchains })
  const isPossible = ({ needs = [] }: CompatibilityProgram) => needs.every(isInstalled)
  const possible = programs.filter(isPossible)
  const ends = await runAll({ ...ground, interpreter }, possible, guests)

  describe(`The same in a cell as outside: ${ground.name}`, () => {
    for (const program of possible)
      test(program.title, () => requireExpected(program, ends.get(program), guests))
  })
  const absent = programs.filter((program) => !isPossible(program)).flatMap(({ needs = [] }) => needs)
  if (absent.length > 0) {
    const tools = [...new Set(absent)].filter((name) => !isInstalled(name)).join(', ')
    test(`every program for ${ground.name}`, { skip: `not installed: ${tools}` }, () => undefined)
  }
}

/** Searches the folders of a guest's PATH. */
function isInstalled(name: string): boolean {
  return ['/usr/local/bin', '/usr/bin', '/bin'].some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

async function runAll(
  ground: Ground & { readonly interpreter: string },
  programs: readonly CompatibilityProgram[],
  guests: TestLazaret,
): Promise<ReadonlyMap<CompatibilityProgram, Ends>> {
  const ends = new Map<CompatibilityProgram, Ends>()
  const waiting = programs.values()
  const work = async () => {
    for (const program of waiting) {
      const { code, files = {}, stdin = '', outsideVaries = false } = program
      const outside = outsideVaries
        ? undefined
        : await runOutside({
            ...{ file: ground.interpreter, name: `program.${ground.ending}`, code, files, stdin, wallMs },
          })
      const inside = await guests.run({ ...ground.guest, code, files, stdin, limits: { wallMs } })
      ends.set(program, { outside, inside })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return ends
}

function requireExpected(
  program: CompatibilityProgram,
  ends: Ends | undefined,
  { level }: TestLazaret,
): void {
  assert.ok(ends !== undefined)
  const { outside, inside } = ends
  if (outside !== undefined) {
    assert.equal(outside.stdout, program.prints, `outside: ${outside.stderr}`)
    assert.equal(outside.exitCode, 0, `outside: ${outside.stderr}`)
  }
  const { prints } = differenceAt(program, level) ?? program
  const why = `inside: ${JSON.stringify(inside.outcome)}\n${inside.stderr}`
  assert.equal(inside.stdout, prints, why)
  assert.deepEqual(inside.outcome, { kind: 'completed', exitCode: 0 }, why)
}
