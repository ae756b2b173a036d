/**
 * Several files of tests in one process, one after another: each is a test that holds the tests and the hooks of its
 * file. None may change what the others see, and whether it has is looked at after each.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { sayProcessorTime, usedHereMs } from './processor-time.ts'

/** Each test in it has its own limit. */
const fileMs = 15 * 60_000

/** What the files use of each other's: a process that starts no other, one that does, or a Lazaret with its cells. */
export type Sharing = 'nothing' | 'process' | 'Lazaret'

/** From here on the runner waits for tests in tests. */
const waitsSince = 24

export async function testTogether(files: readonly string[], sharing: Sharing): Promise<void> {
  if (sharing === 'Lazaret') {
    const { shareLazaret } = await import('../../test/support/use-lazaret.ts')
    after(shareLazaret())
  }
  if (Number.parseInt(process.versions.node) < waitsSince) {
    for (const file of files) describe(file, async () => void (await import(pathToFileURL(file).href)))
    return
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

/** A check for what is left takes its own folder for as long as its process lives, which is longer here. */
function restoreTemporaryFolder(): void {
  if (temporaryFolder === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = temporaryFolder
}

const unclean = 'The file has left the process changed, which others use after it.'

/** Names alone: a variable may hold a secret, and this is printed. */
function namesOfChanges(before: Surroundings, now: Surroundings): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return names.filter((name) => before[name] !== now[name])
}

type Surroundings = Readonly<Record<string, string | undefined>>

/** What a file can change for all others. */
function lookAround(sharing: Sharing): Surroundings {
  const variables = Object.entries(process.env).map(([name, value]) => [`variable ${name}`, value] as const)
  // The runner's own come and go.
  const events = process.eventNames().filter((name) => name !== 'exit')
  const listeners = events.map(
    (name) => [`listener to ${String(name)}`, `${process.listenerCount(name)}`] as const,
  )
  // zod keeps its settings there, and Node what `fetch` needs when somebody first looks at it.
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

/** More than before when a process has been started and has ended: every process touches memory. */
function pagesOfEndedChildren(): string | undefined {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[8]
}
