/**
 * The inside of the `bun` and `node` runtimes: reads one request from the private descriptor, runs it, answers. It runs
 * unchanged in both. Modules that not every run needs are loaded when a run needs them: each costs start time.
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

/** What most runs need is loaded and compiled now; none of it runs guest code. */
export async function loadAhead({ park: language, realm, preload }: ParkRequest): Promise<void> {
  const sample = { language, code: '', args: [], resultBytes: 0 }
  // The run does it again, with what is its own; the second time engines are done with it ten times faster.
  installGlobals(sample, undefined)
  installConsole()
  for (const code of ['1', 'await 1', 'var a = 1']) await compileProgram({ ...sample, code })
  // What `process.stdout` is made of: loading it takes Bun milliseconds. Not itself: making it changes the descriptor.
  for (const name of ['node:fs', 'node:stream', 'node:tty', 'node:net']) process.getBuiltinModule(name)
  if (realm === 'bare') await openRealm(language)
  await import('../../core/values/decode-value.ts')
  encodeValueToJson({ a: [1, 'a'] }, { maxBytes: 1000 })
  inspectValue({ a: [1, 'a'] })
  if (preload.length > 0) await (await import('./preload.ts')).loadPackages(preload)
}

/** A bare one. Its random numbers are seeded when it is made. */
export async function openRealm(language: GuestRequest['language']): Promise<void> {
  await (await import('./bare-realm.ts')).parkBare(language)
}

/**
 * Serves what the channel asks for, up to its end, and takes back what a process has of its run: engines are done with each
 * step ten times faster the second time.
 */
export async function rehearse(serving: Serving): Promise<void> {
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
  /** What a worker does that is to wait for its run. */
  readonly load: (request: ParkRequest) => Promise<void>
  /** Called when the run begins of a worker that waited. */
  readonly onRequest?: () => void
}

/** Resolves when the program has its value, or has failed. */
export async function serve({ load, onRequest }: Serving): Promise<void> {
  const first = readRequest()
  if (first === undefined || !('park' in first)) return start(first)
  try {
    await load(first)
  } catch (thrown) {
    send(`{"type":"unparked","text":${jsonString(boundText(String(thrown)))}}`)
    return exitNow()
  }
  send('{"type":"parked"}')
  const request = readRequest()
  onRequest?.()
  return start(request)
}

/** Without a request the host has gone away, and there is nothing to do. */
async function start(request: GuestRequest | ParkRequest | undefined): Promise<void> {
  if (request !== undefined && !('park' in request)) await run(request)
}
