/**
 * The guest side of the `bun` and `node` runtimes, the same for both: reads one request from the private descriptor, runs
 * it and answers. Modules that only some runs need are loaded on demand, because each costs start time.
 */
import { jsonString } from '../../core/primordials.ts'
import { encodeValueToJson } from '../../core/values/encode-value.ts'
import type { GuestFunctions, GuestRequest, ParkRequest } from '../channel/channel-protocol.ts'
import { boundText, readRequest, send, sendValue } from './channel.ts'
import { compileOrExit } from './modules/compile-or-exit.ts'
import { compileProgram } from './modules/compile.ts'
import { installConsole } from './console/console.ts'
import { exitNow, watchFailures } from './failures.ts'
import { installGlobals } from './realm/globals.ts'
import { inspectValue } from './console/inspect.ts'
import { setProgramFolder } from './modules/positions.ts'
import { installStackTraces } from './modules/stack.ts'

async function run(request: GuestRequest): Promise<void> {
  if (request.realm === 'bare') return (await import('./bare-realm.ts')).runBare(request)
  Object.assign(process.env, request.env)
  const program = await compileOrExit(request)
  installStackTraces(program.toWritten)
  installGlobals(request, await decodeInput(request))
  if (request.functions !== undefined) await installFunctions(request, request.functions)
  installConsole()
  const failures = watchFailures(request.code)
  try {
    let value = program.start()
    if (isObject(value)) {
      failures.setWaiting(true)
      value = await value
      failures.setWaiting(false)
    }
    const { json, truncated } = encodeValueToJson(value, { maxBytes: request.resultBytes })
    sendValue(json, inspectValue(value), truncated)
  } catch (thrown) {
    failures.setWaiting(false)
    failures.fail(thrown)
  }
}

async function installFunctions(request: GuestRequest, functions: GuestFunctions): Promise<void> {
  const { createFunctions } = await import('./functions.ts')
  createFunctions(functions, request.resultBytes)
}

async function decodeInput(request: GuestRequest): Promise<unknown> {
  if (!('input' in request)) return undefined
  const { decodeTagged } = await import('../../core/values/decode-value.ts')
  return decodeTagged(request.input).value
}

/** Only these can be thenable. */
const isObject = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/** Loads and compiles what most runs need. Runs no guest code. */
export async function loadAhead({ park: language, realm, preload, folder }: ParkRequest): Promise<void> {
  if (folder !== undefined) process.chdir(folder)
  // Packages that are loaded ahead are above the workspace. Bun would remember the workspace as it is now, without files.
  setProgramFolder('/')
  const sample = { language, code: '', args: [], resultBytes: 0 }
  // The run repeats this with its own values; the second time takes a tenth of the time.
  installGlobals(sample, undefined)
  installConsole()
  for (const code of ['1', 'await 1', 'var a = 1']) await compileProgram({ ...sample, code })
  // The modules of `process.stdout`, which take Bun milliseconds to load. The stream itself is not created, because that
  // changes the descriptor.
  for (const name of ['node:fs', 'node:stream', 'node:tty', 'node:net']) process.getBuiltinModule(name)
  if (realm === 'bare') await openRealm(language)
  await import('../../core/values/decode-value.ts')
  encodeValueToJson({ a: [1, 'a'] }, { maxBytes: 1000 })
  inspectValue({ a: [1, 'a'] })
  if (preload.length > 0) await (await import('./preload.ts')).loadPackages(preload)
}

/** Creates a bare realm, whose random numbers are seeded at that time. */
export async function openRealm(language: GuestRequest['language']): Promise<void> {
  await (await import('./bare-realm.ts')).parkBare(language)
}

/**
 * Serves one sample run up to its end, and then removes the listeners that the run added to the process. The second
 * time, each step takes a tenth of the time.
 */
export async function serveSampleRun(serving: Serving): Promise<void> {
  const events = ['uncaughtException', 'unhandledRejection', 'beforeExit', 'exit'] as const
  const before = events.map((event) => process.listeners(event as 'exit'))
  await serve(serving)
  for (const [index, event] of events.entries())
    for (const listener of process.listeners(event as 'exit')) {
      if (before[index]?.includes(listener) === true) continue
      if (event === 'beforeExit' || event === 'exit') listener(0)
      process.off(event, listener)
    }
}

export interface Serving {
  /** Prepares a worker that is parked until its run. */
  readonly load: (request: ParkRequest) => Promise<void>
  /** Waits until the run of a parked worker begins. */
  readonly awaitRequest?: () => void
}

/** Resolves when the program has returned its value or failed. */
export async function serve({ load, awaitRequest }: Serving): Promise<void> {
  const first = readRequest()
  if (first === undefined || !('park' in first)) return start(first)
  try {
    await load(first)
  } catch (thrown) {
    send(`{"type":"unparked","text":${jsonString(boundText(String(thrown)))}}`)
    return exitNow()
  }
  send('{"type":"parked"}')
  awaitRequest?.()
  if (first.folder !== undefined) {
    process.chdir(first.folder)
    setProgramFolder(first.folder)
  }
  return start(readRequest())
}

/** Does nothing without a request: then the host has closed the channel. */
async function start(request: GuestRequest | ParkRequest | undefined): Promise<void> {
  if (request !== undefined && !('park' in request)) await run(request)
}
