/** The options of a pool of workers, with all defaults filled in. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { LazaretOptions } from '../../engine/options/options.ts'
import type { CrashLimit } from '../../pool/slots.ts'
import { nameUnknown } from './read-params.ts'
import { textOf } from './text-of.ts'
import type { WorkerPoolOptions } from './types.ts'

export interface ReadOptions extends Pick<WorkerPoolOptions, 'logger' | 'onEvent'> {
  readonly poolSize: number
  readonly maxQueueSize: number
  readonly crashes: CrashLimit
  readonly libraries: Readonly<Record<string, string>>
  readonly replaceLibraries: boolean
  readonly engine: LazaretOptions
}

/** The compiler requires that every option is listed here. */
const known: Readonly<Record<keyof WorkerPoolOptions, true>> = {
  ...{ poolSize: true, maxQueueSize: true, maxCrashesPerWorker: true, crashTimeWindow: true },
  ...{ libraries: true, replaceLibraries: true, logger: true, onEvent: true, engine: true },
}

export const counts = {
  poolSize: { usual: 2, least: 1, most: 64 },
  maxQueueSize: { usual: 100, least: 0, most: 1_000_000 },
  maxCrashesPerWorker: { usual: 3, least: 1, most: 1_000_000 },
  crashTimeWindow: { usual: 60_000, least: 1, most: 24 * 60 * 60 * 1000 },
} as const

/** Throws INVALID_REQUEST. */
export function readOptions(options: WorkerPoolOptions): ReadOptions {
  try {
    return read(options)
  } catch (thrown) {
    if (thrown instanceof LazaretError) throw thrown
    // The caller may have passed a proxy or a getter.
    throw refuse(`they cannot be read: ${textOf(thrown)}`)
  }
}

function read(options: WorkerPoolOptions): ReadOptions {
  if (typeof options !== 'object' || options === null) throw refuse('they must be an object')
  const unknown = nameUnknown(options, Object.keys(known), 'option')
  if (unknown !== undefined) throw new LazaretError('INVALID_REQUEST', { detail: unknown })
  const { poolSize, maxQueueSize, maxCrashesPerWorker, crashTimeWindow, logger, onEvent } = options
  const { replaceLibraries = false, engine = {} } = options
  if (logger !== undefined && !isLogger(logger)) throw refuse('logger must have the methods warn and error')
  if (onEvent !== undefined && typeof onEvent !== 'function') throw refuse('onEvent must be a function')
  if (typeof replaceLibraries !== 'boolean') throw refuse('replaceLibraries must be true or false')
  if (typeof engine !== 'object' || engine === null) throw refuse('engine must be an object')
  const libraries = readGiven(options.libraries)
  const strange = Object.entries(libraries).find(([, text]) => typeof text !== 'string')
  const odd = Object.keys(libraries).find((name) => !/^[@\w][\w./-]{0,213}$/.test(name))
  if (odd !== undefined)
    throw refuse(`libraries: ${JSON.stringify(odd.slice(0, 100))} is not the name of a package`)
  if (strange !== undefined) throw refuse(`libraries.${strange[0]} must be a path or the text of a library`)
  return {
    poolSize: count('poolSize', poolSize),
    maxQueueSize: count('maxQueueSize', maxQueueSize),
    crashes: {
      most: count('maxCrashesPerWorker', maxCrashesPerWorker),
      windowMs: count('crashTimeWindow', crashTimeWindow),
    },
    libraries,
    replaceLibraries,
    engine,
    ...(logger !== undefined && { logger }),
    ...(onEvent !== undefined && { onEvent }),
  }
}

/** A copy, so that the caller cannot change it later. */
function readGiven(libraries: unknown): Readonly<Record<string, string>> {
  if (libraries === undefined) return {}
  if (typeof libraries !== 'object' || libraries === null)
    throw refuse('libraries must be an object of strings')
  return Object.assign(Object.create(null) as Record<string, string>, libraries)
}

const isLogger = (logger: unknown): boolean =>
  typeof logger === 'object' &&
  logger !== null &&
  ['warn', 'error'].every((name) => typeof (logger as Record<string, unknown>)[name] === 'function')

function count(name: keyof typeof counts, value: unknown): number {
  const { usual, least, most } = counts[name]
  if (value === undefined) return usual
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw refuse(`${name} must be an integer from ${least} to ${most}`)
}

const refuse = (detail: string): LazaretError =>
  new LazaretError('INVALID_REQUEST', { detail: `Options: ${detail}.` })
