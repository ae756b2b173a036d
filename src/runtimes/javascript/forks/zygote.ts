/**
 * A zygote of JavaScript: the harness, loaded and rehearsed, which never runs guest code. Each guest is a fork of it.
 * The library (native/zygote) waits for requests on descriptor 3 and returns in each fork, confined as any guest is;
 * the fork then continues as any harness does. What the zygote's state would make alike in two guests is made new here.
 *
 * Started as `guest-<engine>-zygote.js <library> <language> <realm> <package>…`.
 */
import type { GuestRequest, ParkRequest } from '../../channel/channel-protocol.ts'
import { frame } from '../channel.ts'
import { writeAll } from '../console/output.ts'
import { loadAhead, rehearse, serve } from '../serve.ts'
import type { Serving } from '../serve.ts'

/** The library in native/zygote, as every engine calls it. */
export interface ForkLibrary {
  /** Empty when this process can be forked from now on, else why it cannot. */
  readonly prepare: () => string
  /** Returns 0 in each fork, behind its wall; otherwise no more requests can come. */
  readonly serve: (socketDescriptor: number) => number
  /** In a fork: the environment of its guest. Undefined if that is the zygote's own. */
  readonly environment: () => Record<string, string> | undefined
  /** The id of the process in its own pid namespace. */
  readonly processId: () => number
  /** In a fork: recreates its threads. 0 is for a rehearsal. */
  readonly reviveAfter: (delayMs: number) => void
  /** A run that follows is a rehearsal: its channel and its output are the other end of the descriptor that this gives. */
  readonly openStage: () => number
  readonly closeStage: (otherEnd: number) => void
}

export interface ForkableEngine {
  readonly name: string
  readonly version: string
  /** Forks depend on the internals of an engine. Other versions are not forked until they have been tested. */
  readonly versionsTried: readonly string[]
  readonly library: ForkLibrary
  /** Called before the first fork, when everything is loaded. Returns what is wrong, if anything is. */
  readonly settle: () => string | undefined
  /** Called in a fork, and in rehearsals. */
  readonly becomeAnother: () => void
  /** What a fork has to load that cannot come from its zygote. */
  readonly load: (request: ParkRequest) => Promise<void>
}

const socketDescriptor = 3
const wordBytesMax = 200
/** After this many rehearsals, the code of a run is compiled and linked. */
const rehearsals = 8
/** A run that has not ended by then gets its threads. Each takes about 40 µs to make, and a short run uses none. */
const reviveAfterMs = 4

/** Does not use a timer: in a timer's callback, Bun looks for unhandled rejections only after `beforeExit`. */
export async function runZygote(engine: ForkableEngine): Promise<void> {
  const [, , , park, realm, ...preload] = process.argv
  const { name, version, versionsTried, library } = engine
  if (!versionsTried.includes(version)) return say(`${name} ${version} has not been tried as a zygote`)
  try {
    await loadAhead({ park, realm, preload } as ParkRequest)
  } catch (thrown) {
    return say(String(thrown))
  }
  const language = park as GuestRequest['language']
  const codes = [...plays, ...preload.map(playWith)]
  for (let time = 0; time < rehearsals; time++) await rehearseOn(engine, language, codes)
  for (let time = 0; time < rehearsals; time++) engine.becomeAnother()
  const problem = engine.settle() ?? library.prepare()
  if (problem !== '') return say(problem)
  tell(`!zygote_data_bytes=${countDataBytes()}\n`)
  if (library.serve(socketDescriptor) !== 0) endAtOnce()
  engine.becomeAnother()
  return serve(servingAfter(engine, reviveAfterMs))
}

const servingAfter = ({ library, load }: ForkableEngine, delayMs: number): Serving => ({
  load,
  onRequest: () => library.reviveAfter(delayMs),
})

/** The programs of most runs, as the engine and this harness see them. */
const plays = [
  'const a = [1, "a"]\nconsole.log("a", a.length)\na',
  'await 1',
  'console.log(1.5)',
  `import path, { join } from 'node:path'
import * as all from 'node:path'
const parts = [{ name: 'a', count: 1 }, { name: 'b' }]
function first({ name, count = 0 }, ...rest) { for (const one of rest) if (one) return one; return \`\${name}\${count}\` }
class Kept { #one = 1; get one() { return this.#one } static async make() { return new Kept() } }
const kept = await Kept.make()
;[join('a', 'b'), path.sep, all.sep, parts.map((part) => first(part)), kept.one, /a+/.test('a') ? 1 : null]`,
]

/** What most programs do with a package first. */
const playWith = (name: string): string =>
  `import * as all from ${JSON.stringify(name)}\nObject.keys(all).length`

async function rehearseOn(
  engine: ForkableEngine,
  language: GuestRequest['language'],
  codes: readonly string[],
): Promise<void> {
  const { library } = engine
  for (const code of codes) {
    const request: GuestRequest = { language, code, args: [], resultBytes: 1000, input: { a: [1] } }
    const stage = library.openStage()
    for (const message of [{ park: language, preload: [] }, request])
      writeAll(stage, frame(JSON.stringify(message)))
    await rehearse(servingAfter(engine, 0))
    library.closeStage(stage)
  }
}

/** Tells the host why there is no zygote. */
function say(problem: string): void {
  tell(problem)
  process.exit(1)
}

function tell(word: string): void {
  writeAll(socketDescriptor, new TextEncoder().encode(word).subarray(0, wordBytesMax))
}

/** Skips the engine's own clean-up, which would need its threads. */
function endAtOnce(): never {
  return process.kill(process.pid, 'SIGKILL') as never
}

/** What counts against RLIMIT_DATA, from proc(5): the sixth number of statm, in pages. */
function countDataBytes(): number {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[5]) * 4096
}
