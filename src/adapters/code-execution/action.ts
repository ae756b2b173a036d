/** The action "Execute Code" of an agent, whose input is JSON text. */
import { nameUnknown } from './read-params.ts'
import { textOf } from './text-of.ts'
import type { CodeExecutionParams } from './types.ts'

export interface CodeAction extends Pick<CodeExecutionParams, 'code' | 'language'> {
  /** JSON. */
  readonly inputData?: string
  /** Seconds. */
  readonly timeout?: number
  /** MB. */
  readonly memoryLimit?: number
}

/** Returns the parameters, or the reason why they are refused. */
export function paramsOfAction(action: CodeAction): CodeExecutionParams | string {
  try {
    return read(action)
  } catch (thrown) {
    // The caller may have passed a proxy or a getter.
    return `The parameters cannot be read: ${textOf(thrown)}`
  }
}

function read(action: CodeAction): CodeExecutionParams | string {
  if (typeof action !== 'object' || action === null) return 'Parameters are required and must be an object'
  const unknown = nameUnknown(action, ['code', 'language', 'inputData', 'timeout', 'memoryLimit'])
  if (unknown !== undefined) return unknown
  const { code, language, inputData, timeout, memoryLimit } = action
  const input = readJson(inputData)
  if (typeof input === 'string') return input
  return {
    code,
    language,
    ...(input.value !== undefined && { inputData: input.value }),
    ...(timeout !== undefined && { timeoutSeconds: timeout }),
    ...(memoryLimit !== undefined && { memoryLimitMB: memoryLimit }),
  }
}

function readJson(text: unknown): { readonly value: unknown } | string {
  if (text === undefined || text === null || text === '') return { value: undefined }
  if (typeof text !== 'string') return 'inputData must be a JSON string'
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (thrown) {
    return `inputData is not valid JSON: ${(thrown as Error).message}`
  }
}
