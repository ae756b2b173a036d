/**
 * The limits of a sandbox. They differ from those of a run because a sandbox, like a small machine, runs more than one
 * program. Files are in memory, so both count together: a request for more files gets the memory for them. Pure.
 */
import { LazaretError } from '../core/errors/errors.ts'
import type { Clamp, LimitName, Limits } from '../core/limits.ts'
import { describeClamps, resolveLimits } from './resolve-limits.ts'
import type { LimitRules, ResolvedLimits } from './resolve-limits.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

/** The machine's resources; absent ones are unknown. */
export interface SandboxMachine {
  /** The memory that may be promised to all sandboxes and runs together. */
  readonly memoryTotalBytes?: number | undefined
  /** The hard limit of this process, which no guest can exceed. */
  readonly openFilesHard?: number | undefined
}

export const sandboxDefaults = {
  // Threads count: a Node process has about eight, and each worker of a build or a test runner is a Node process.
  processesMax: 1024,
  // As high as any known program raises its own soft limit, which starts at 1024.
  openFilesMax: 65_536,
  memoryBytes: 3 * GiB,
  diskBytes: 2 * GiB,
}

/** By default a sandbox gets a quarter of the memory that may be promised, but at least this much. */
const fitting = 4
const memoryLeastBytes = GiB
/** The memory that can be promised varies from start to start, but a default should not. */
const memoryStepBytes = 256 * MiB

/** The memory that files leave to programs, however much memory there is. */
const programsBytes = GiB

export interface SandboxLimitRules extends Partial<LimitRules> {
  readonly machine?: SandboxMachine
}

/** Throws INVALID_REQUEST if the requested files do not fit into the requested memory. */
export function resolveSandboxLimits(
  asked: Partial<Limits> = {},
  { defaults = {}, ceilings = {}, machine = {} }: SandboxLimitRules = {},
): ResolvedLimits & { readonly clamps: readonly Clamp[] } {
  requirePossible(asked)
  const { openFilesHard = sandboxDefaults.openFilesMax } = machine
  const own = { ...sandboxDefaults, ...defined(defaults), ...defaultsOn(machine, defined(defaults)) }
  const memoryBytes = Math.max(own.memoryBytes, memoryFor(asked.diskBytes ?? defaults.diskBytes ?? 0))
  const rules = {
    defaults: { ...own, memoryBytes, openFilesMax: Math.min(own.openFilesMax, openFilesHard) },
    ceilings,
  }
  const resolved = resolveLimits(asked, rules, filesIn)
  const openFilesMax = Math.min(resolved.limits.openFilesMax, openFilesHard)
  const limits = { ...resolved.limits, openFilesMax }
  const clamps = describeClamps(asked, rules, limits)
  const names = clamps.map(({ limit }) => limit)
  const wasSaid = (name: LimitName) => asked[name] !== undefined || defaults[name] !== undefined
  return { limits, clamps, clamped: names.filter(wasSaid) }
}

/** The most that files may take of this much memory: half, or all but what programs need if that is more. */
export function filesIn(memoryBytes: number): number {
  return Math.floor(memoryBytes - Math.min(memoryBytes / 2, programsBytes))
}

/** The least memory of which files may take this much. */
export function memoryFor(diskBytes: number): number {
  return Math.min(2 * diskBytes, diskBytes + programsBytes)
}

function defaultsOn(
  { memoryTotalBytes = Number.POSITIVE_INFINITY }: SandboxMachine,
  { memoryBytes }: Partial<Limits>,
): Pick<Limits, 'memoryBytes'> {
  const share = Math.floor(memoryTotalBytes / fitting / memoryStepBytes) * memoryStepBytes
  const fits = Math.min(sandboxDefaults.memoryBytes, Math.max(memoryLeastBytes, share))
  return { memoryBytes: memoryBytes ?? fits }
}

/** A key with an undefined value asks for nothing. */
function defined(limits: Partial<Limits>): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}

function requirePossible({ diskBytes, memoryBytes }: Partial<Limits>): void {
  if (diskBytes === undefined || memoryBytes === undefined || diskBytes <= filesIn(memoryBytes)) return
  throw new LazaretError('INVALID_REQUEST', {
    detail: `limits: with a memoryBytes of ${memoryBytes} files may take ${filesIn(memoryBytes)}, but diskBytes is ${diskBytes}.`,
    hint: `Raise memoryBytes to ${memoryFor(diskBytes)}, or leave it out: files are kept in memory, and programs need some of it, too.`,
  })
}
