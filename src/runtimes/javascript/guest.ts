/**
 * The inside of the `bun` and `node` runtimes: reads one request from the private descriptor, runs it, answers. It runs
 * unchanged in both. Modules that not every run needs are loaded when a run needs them: each costs start time.
 */
import { encodeValueToJson } from '../../core/encode-value.ts'
import type { GuestFunctions, GuestRequest } from '../channel-protocol.ts'
import { readRequest, sendValue } from './channel.ts'
import { compileProgram, type Program } from './compile.ts'
import { installConsole } from './console.ts'
import { CompileError, reportSyntaxError } from './errors.ts'
import { exitNow, watchFailures } from './failures.ts'
import { installGlobals } from './globals.ts'
import { inspectValue } from './inspect.ts'
import { installStackTraces } from './stack.ts'

async function run(request: GuestRequest): Promise<void> {
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

async function compileOrExit(request: GuestRequest): Promise<Program> {
  try {
    return await compileProgram(request)
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown
    reportSyntaxError(request.code, thrown)
    return exitNow()
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

const request = readRequest()
// Without one the host has gone away, and there is nothing to do.
if (request !== undefined) void run(request)
