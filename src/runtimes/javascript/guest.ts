/**
 * The inside of the `bun` and `node` runtimes: reads one request from the private descriptor, runs it, answers. It runs
 * unchanged in both. Modules that not every run needs are loaded when a run needs them: each costs start time.
 */
import { encodeValueToJson } from '../../core/encode-value.ts'
import type { GuestFunctions, GuestRequest, ParkRequest } from '../channel-protocol.ts'
import { readRequest, send, sendValue } from './channel.ts'
import { compileOrExit } from './compile-or-exit.ts'
import { compileProgram } from './compile.ts'
import { installConsole } from './console.ts'
import { watchFailures } from './failures.ts'
import { installGlobals } from './globals.ts'
import { inspectValue } from './inspect.ts'
import { installStackTraces } from './stack.ts'

async function run(request: GuestRequest): Promise<void> {
  if (request.realm === 'bare') return (await import('./bare-realm.ts')).runBare(request)
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
  const { decodeTagged } = await import('../../core/decode-value.ts')
  return decodeTagged(request.input).value
}

/** Only these can be thenable. */
const isObject = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/** What most runs need is loaded and compiled now; none of it runs code of a guest's. */
async function park({ park: language, realm }: ParkRequest): Promise<void> {
  const sample = { language, code: '', args: [], resultBytes: 0 }
  // The run does it again, with what is its own; the second time engines are done with it ten times faster.
  installGlobals(sample, undefined)
  installConsole()
  for (const code of ['1', 'await 1', 'var a = 1']) await compileProgram({ ...sample, code })
  // What `process.stdout` is made of: loading it takes Bun milliseconds. Not itself: making it changes the descriptor.
  for (const name of ['node:fs', 'node:stream', 'node:tty', 'node:net']) process.getBuiltinModule(name)
  if (realm === 'bare') await (await import('./bare-realm.ts')).parkBare(language)
  await import('../../core/decode-value.ts')
  encodeValueToJson({ a: [1, 'a'] }, { maxBytes: 1000 })
  inspectValue({ a: [1, 'a'] })
  send('{"type":"parked"}')
}

async function main(): Promise<void> {
  const first = readRequest()
  if (first === undefined || !('park' in first)) return start(first)
  await park(first)
  start(readRequest())
}

/** Without a request the host has gone away, and there is nothing to do. */
function start(request: GuestRequest | ParkRequest | undefined): void {
  if (request !== undefined && !('park' in request)) void run(request)
}

void main()
