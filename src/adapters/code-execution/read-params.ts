/** Turns unknown parameters into a request, or the reason why they are refused. Never throws. */
import type { Limits } from '../../core/limits.ts'
import type { HostFunction, RunHandles, RunSpec } from '../../core/request.ts'
import { isAbortSignal } from '../../policy/hostile-input.ts'
import { toHostFunction, toJson } from './bridge.ts'
import { textOf } from './text-of.ts'
import type { CodeExecutionParams } from './types.ts'

export interface ReadParams {
  readonly spec: RunSpec & { readonly limits: Partial<Limits> }
  readonly handles: RunHandles
  readonly timeoutSeconds: number
  readonly memoryLimitMB: number
  readonly warnings: readonly string[]
}

const MiB = 1024 * 1024
const inputBytesMax = 256 * MiB
export const bridgeCallsUsual = 100
const bridgeCallsMost = 1_000_000

/** The compiler requires that every parameter is listed here. */
const known: Readonly<Record<keyof CodeExecutionParams, true>> = {
  ...{ code: true, language: true, inputData: true, timeoutSeconds: true, memoryLimitMB: true },
  ...{ bridge: true, maxBridgeCalls: true, signal: true, client: true },
}

interface Range {
  readonly name: string
  readonly usual: number
  readonly least: number
  readonly most: number
}
export const timeouts: Range = { name: 'timeoutSeconds', usual: 30, least: 0.001, most: 120 }
export const memories: Range = { name: 'memoryLimitMB', usual: 128, least: 8, most: 512 }

/** Returns the request, or the reason for the refusal. */
export function readParams(params: unknown): ReadParams | string {
  try {
    return read(params)
  } catch (thrown) {
    // The caller may have passed a proxy or a getter.
    return `The parameters cannot be read: ${textOf(thrown)}`
  }
}

function read(params: unknown): ReadParams | string {
  if (typeof params !== 'object' || params === null) return 'Parameters are required and must be an object'
  const { code, language, inputData, bridge, maxBridgeCalls, signal, client } = params as CodeExecutionParams
  const { timeoutSeconds: askedSeconds, memoryLimitMB: askedMB } = params as CodeExecutionParams
  if (typeof code !== 'string' || code === '') return 'Code parameter is required and must be a string'
  if (language !== 'javascript' && language !== 'typescript')
    return `Unsupported language: ${textOf(language)}. Only 'javascript' and 'typescript' are currently supported.`
  const unknown = nameUnknown(params, Object.keys(known))
  if (unknown !== undefined) return unknown
  if (signal !== undefined && signal !== null && !isAbortSignal(signal))
    return 'signal must be an AbortSignal'
  if (client !== undefined && client !== null && typeof client !== 'string') return 'client must be a string'
  const functions = readBridge(bridge)
  if (typeof functions === 'string') return functions
  const input = readInputData(inputData)
  if (typeof input === 'string') return input
  const warnings: string[] = []
  const timeoutSeconds = clamp(askedSeconds, timeouts, warnings)
  const memoryLimitMB = Math.floor(clamp(askedMB, memories, warnings))
  const limits = {
    wallMs: Math.max(1, Math.round(timeoutSeconds * 1000)),
    memoryBytes: memoryLimitMB * MiB,
    functionCallsMax: isCount(maxBridgeCalls) ? maxBridgeCalls : bridgeCallsUsual,
    inputBytes: inputBytesMax,
  }
  return {
    spec: {
      code,
      language,
      runtime: 'isolate',
      limits,
      ...(input.json !== undefined && { input: input.json }),
      ...(typeof client === 'string' && { client }),
      ...(functions !== undefined && { functionNames: Object.keys(functions) }),
    },
    handles: {
      ...(functions !== undefined && { functions }),
      ...(signal && { signal }),
    },
    timeoutSeconds,
    memoryLimitMB,
    warnings,
  }
}

const keyLengthMax = 100

/** A misspelt limit would leave the default in force. Undefined if all keys are known. */
export function nameUnknown(
  given: object,
  names: readonly string[],
  kind: 'parameter' | 'option' = 'parameter',
): string | undefined {
  const unknown = Object.keys(given).find((key) => !names.includes(key))
  if (unknown === undefined) return undefined
  // The caller may have taken the key from a model, and the message must stay one line.
  const name = unknown.slice(0, keyLengthMax).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
  return `Unknown ${kind}: ${name}. The ${kind}s are ${names.join(', ')}.`
}

/** The input as JSON, because the service's programs receive a string. */
function readInputData(data: unknown): { readonly json: string | undefined } | string {
  try {
    return { json: toJson(data) }
  } catch (thrown) {
    return `inputData cannot be written as JSON: ${textOf(thrown)}`
  }
}

/** Programs pass and receive JSON. */
function readBridge(bridge: unknown): Readonly<Record<string, HostFunction>> | string | undefined {
  if (bridge === undefined || bridge === null) return undefined
  if (typeof bridge !== 'object') return 'bridge must be an object of functions'
  const entries = Object.entries(bridge)
  const strange = entries.find(([, call]) => typeof call !== 'function')
  if (strange !== undefined) return `bridge.${strange[0]} must be a function`
  if (entries.length === 0) return undefined
  return Object.fromEntries(
    entries.map(([name, call]) => [name, toHostFunction(call as (value: unknown) => unknown)]),
  )
}

function clamp(value: unknown, { name, usual, least, most }: Range, warnings: string[]): number {
  if (value === undefined || value === null) return usual
  if (typeof value !== 'number' || Number.isNaN(value) || value <= 0) {
    warnings.push(`${name} must be a number above 0; ${usual} is used`)
    return usual
  }
  const taken = Math.min(Math.max(value, least), most)
  if (taken !== value) warnings.push(`${name} must be from ${least} to ${most}; ${taken} is used`)
  return taken
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= bridgeCallsMost
}
