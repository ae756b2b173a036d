/** Checks of callers' arguments for code contexts, before anything is started. Each throws INVALID_REQUEST. */
import { LazaretError } from '../../core/errors/errors.ts'
import { limitRanges } from '../../core/limits.ts'
import { contextLanguages } from '../../core/work.ts'
import type { ContextLanguage } from '../../core/work.ts'
import { checkAbort, checkFolder, checkKeys, checkMilliseconds, checkName, refuse } from '../checks.ts'
import type { CodeContextOptions, ForkOptions, RunCodeOptions } from './context-types.ts'

const completedCharactersMax = 4096
const timeoutMsDefault = 120_000
const MiB = 1024 * 1024
const memoryBytesDefault = 512 * MiB

export function checkLanguage(language: unknown): ContextLanguage {
  const found = contextLanguages.find((known) => known === (language ?? 'python'))
  if (found !== undefined) return found
  throw refuse(`language: must be one of ${contextLanguages.join(', ')}`)
}

export function checkContextOptions(given: CodeContextOptions | undefined) {
  const { id, language, cwd, limits, functions } = checkKeys(given, [
    ...(['id', 'language', 'cwd', 'limits', 'functions'] as const),
  ])
  return {
    id: checkName(id, 'id'),
    language: checkLanguage(language),
    folder: checkFolder(cwd),
    asked: checkKeys(limits, ['memoryBytes']),
    functions,
  }
}

export function checkForkOptions(given: ForkOptions | undefined): string | undefined {
  return checkName(checkKeys(given, ['id']).id, 'id')
}

/** The end of the text, because only that matters. */
export function checkCompleted(text: unknown): string {
  if (typeof text !== 'string') throw refuse('text: must be a string')
  return text.slice(-completedCharactersMax)
}

/** At most the sandbox's memory. */
export function checkMemory(asked: unknown, most: number): number {
  if (asked === undefined) return Math.min(memoryBytesDefault, most)
  const { least } = limitRanges.memoryBytes
  if (typeof asked !== 'number' || !Number.isInteger(asked) || asked < least || asked > most)
    throw refuse(`limits.memoryBytes: must be a whole number from ${least} to the sandbox's ${most}`)
  return asked
}

export function checkCode(code: unknown, bytesMax: number): string {
  if (typeof code !== 'string') throw refuse('code: must be a string')
  if (Buffer.byteLength(code) <= bytesMax) return code
  throw new LazaretError('INPUT_TOO_LARGE', { detail: `code: longer than ${bytesMax} bytes (codeBytes).` })
}

const callbacks = ['onStdout', 'onStderr', 'onLog', 'onResult', 'onClear', 'onError', 'onInput'] as const

/** Null for no limit on its time. */
export type CheckedRunCode = Omit<RunCodeOptions, 'timeout'> & { readonly timeoutMs: number | null }

export function checkRunCodeOptions(given: RunCodeOptions | undefined): CheckedRunCode {
  const { timeout, ...options } = checkKeys(given, [
    ...(['context', 'language', 'timeout', 'signal'] as const),
    ...callbacks,
  ])
  for (const name of callbacks)
    if (options[name] !== undefined && typeof options[name] !== 'function')
      throw refuse(`${name}: must be a function`)
  checkAbort(options.signal)
  if (timeout === null) return { ...options, timeoutMs: null }
  return { ...options, timeoutMs: checkMilliseconds(timeout, 'timeout') ?? timeoutMsDefault }
}
