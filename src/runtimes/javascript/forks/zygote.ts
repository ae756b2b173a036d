/**
 * A zygote of JavaScript: an engine that has loaded and warmed up the harness, and never runs guest code. Each guest is a
 * fork of it. The library (native/zygote) waits for requests on descriptor 3 and returns in each fork, confined like any
 * guest. The fork then continues like any harness. It first renews the state that would be the same in two guests.
 *
 * Started as `guest-<engine>-zygote.js <library> <workspace> <language> <realm> <package>…`.
 */
import type { GuestRequest, ParkRequest } from '../../channel/channel-protocol.ts'
import { frame } from '../channel.ts'
import { writeAll } from '../console/output.ts'
import { loadAhead, serve, serveSampleRun } from '../serve.ts'
import type { Serving } from '../serve.ts'

/** The functions of the library in native/zygote that every engine calls. */
export interface ForkLibrary {
  /**
   * Returns an empty string in each fork, which is confined by then, or why this process cannot be forked. When the socket
   * is closed, the zygote ends.
   */
  readonly serve: (socketDescriptor: number) => string
  /** In a fork: the environment of its guest. Undefined if that is the zygote's own. */
  readonly environment: () => Record<string, string> | undefined
  /** The id of the process in its own pid namespace. */
  readonly processId: () => number
  /** In a fork: waits for the request of its run. In a sample run it does nothing. */
  readonly awaitRequest: () => void
  /** Connects the channel and the output to a new socket pair for a sample run. Returns the other end of the pair. */
  readonly openSampleChannel: () => number
  readonly closeSampleChannel: (otherEnd: number) => void
}

export interface ForkableEngine {
  readonly name: string
  readonly version: string
  /** Forks depend on the internals of an engine. Other versions are not forked until they have been tested. */
  readonly versionsTried: readonly string[]
  readonly library: ForkLibrary
  /** Called before the first fork, when everything is loaded. Returns a problem if there is one. */
  readonly settle: () => string | undefined
  /** Called in a fork, and after the sample runs. */
  readonly becomeAnother: () => void
  /** Loads in a fork what it cannot inherit from its zygote. */
  readonly load: (request: ParkRequest) => Promise<void>
}

const socketDescriptor = 3
const reportBytesMax = 200
/**
 * After this many rounds of sample runs, the engine has compiled and linked the code of a run. With half as many, a run in
 * a fork of Node takes an eighth more processor time. More rounds save no more, and each adds 2 ms to the zygote's start.
 */
const sampleRounds = 16

/** Does not use a timer: in a timer's callback, Bun looks for unhandled rejections only after `beforeExit`. */
export async function runZygote(engine: ForkableEngine): Promise<void> {
  const [, , , folder, park, realm, ...preload] = process.argv
  const { name, version, versionsTried, library } = engine
  if (!versionsTried.includes(version)) return refuse(`${name} ${version} has not been tested as a zygote`)
  try {
    await loadAhead({ folder, park, realm, preload } as ParkRequest)
  } catch (thrown) {
    return refuse(String(thrown))
  }
  const language = park as GuestRequest['language']
  const codes = [...samplePrograms, ...preload.map(sampleFor)]
  for (let time = 0; time < sampleRounds; time++) await serveSampleRuns(engine, language, codes)
  for (let time = 0; time < sampleRounds; time++) engine.becomeAnother()
  const problem = engine.settle() ?? library.serve(socketDescriptor)
  if (problem !== '') return refuse(problem)
  engine.becomeAnother()
  return serve(servingOf(engine))
}

const servingOf = ({ library, load }: ForkableEngine): Serving => ({
  load,
  awaitRequest: library.awaitRequest,
})

/** Sample programs that use the parts of the engine and the harness that most runs use. */
const samplePrograms = [
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

/** A program that imports a package. */
const sampleFor = (name: string): string =>
  `import * as all from ${JSON.stringify(name)}\nObject.keys(all).length`

async function serveSampleRuns(
  engine: ForkableEngine,
  language: GuestRequest['language'],
  codes: readonly string[],
): Promise<void> {
  const { library } = engine
  for (const code of codes) {
    const request: GuestRequest = { language, code, args: [], resultBytes: 1000, input: { a: [1] } }
    const channel = library.openSampleChannel()
    for (const message of [{ park: language, preload: [] }, request])
      writeAll(channel, frame(JSON.stringify(message)))
    await serveSampleRun(servingOf(engine))
    library.closeSampleChannel(channel)
  }
}

/** Reports to the host why this process cannot be a zygote, and exits. */
function refuse(problem: string): void {
  writeAll(socketDescriptor, new TextEncoder().encode(problem).subarray(0, reportBytesMax))
  process.exit(1)
}
