/**
 * Runs several test files in one process, one after another. Each file becomes a test that contains its tests and hooks.
 * After each file, a check fails if it has changed what later files see.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { sayProcessorTime, usedHereMs } from './processor-time.ts'

/** The time of a whole file; each test in it has its own limit. */
const fileMs = 15 * 60_000

/** What the files share: a process without children, one with children, or a Lazaret with its cells. */
export type Sharing = 'nothing' | 'process' | 'Lazaret'

export async function testTogether(files: readonly string[], sharing: Sharing): Promise<void> {
  if (sharing === 'Lazaret') {
    const { shareLazaret } = await import('../../test/support/use-lazaret.ts')
    after(shareLazaret())
  }
  for (const file of files) {
    test(file, { timeout: fileMs }, async (context) => {
      const [before, usedBeforeMs] = [lookAround(sharing), usedHereMs()]
      await import(pathToFileURL(file).href)
      // Registered last, so that it runs after the hooks of the file.
      context.after(() => {
        sayProcessorTime(file, usedHereMs() - usedBeforeMs)
        if (sharing === 'process') restoreTemporaryFolder()
        assert.deepEqual(namesOfChanges(before, lookAround(sharing)), [], unclean)
      })
    })
  }
}

const { TMPDIR: temporaryFolder } = process.env

/** The leak check owns its folder as long as its process lives, which is longer here. */
function restoreTemporaryFolder(): void {
  if (temporaryFolder === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = temporaryFolder
}

const unclean = 'The file has changed the process, which later files use.'

/** Only names, because this is printed and a variable may hold a secret. */
function namesOfChanges(before: Surroundings, now: Surroundings): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return names.filter((name) => before[name] !== now[name])
}

type Surroundings = Readonly<Record<string, string | undefined>>

/** What a file can change for all others. */
function lookAround(sharing: Sharing): Surroundings {
  const variables = Object.entries(process.env).map(([name, value]) => [`variable ${name}`, value] as const)
  // The runner's own listeners change.
  const events = process.eventNames().filter((name) => name !== 'exit')
  const listeners = events.map(
    (name) => [`listener to ${String(name)}`, `${process.listenerCount(name)}`] as const,
  )
  // zod keeps its settings there. Node adds what `fetch` needs at its first use.
  const globals = namesIn(globalThis).filter((name) => !/^('__zod_|Symbol\(undici\.)/.test(name))
  const prototypes = [Object, Array, Function, Map, Promise, String].flatMap((one) => namesIn(one.prototype))
  return {
    ...Object.fromEntries([...variables, ...listeners]),
    folder: process.cwd(),
    mask: String(process.umask()),
    title: process.title,
    'exit code': String(process.exitCode),
    globals: globals.join(),
    prototypes: prototypes.join(),
    ...(sharing === 'nothing' && { 'pages of children': pagesOfEndedChildren() }),
  }
}

function namesIn(one: object): string[] {
  return Reflect.ownKeys(one).map((key) => inspect(key))
}

/** Grows whenever a child has ended, because every process touches memory. */
function pagesOfEndedChildren(): string | undefined {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[8]
}
