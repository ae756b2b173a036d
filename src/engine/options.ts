/** What an operator decides, checked. The same keys as in lazaret.config.json. */
import { existsSync } from 'node:fs'

import { z } from 'zod'

import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import { defaultLimits } from '../core/limits.ts'
import type { LimitName, Limits } from '../core/limits.ts'
import { runtimeNames } from '../core/request.ts'
import type { Language, RuntimeName } from '../core/request.ts'
import { protectionLevels } from '../core/protection.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import { defaultUidRange } from '../jail/uid-range.ts'
import type { UidRange } from '../jail/uid-range.ts'
import { defaultPoolSize } from '../pool/shape.ts'
import type { PoolSizes } from '../pool/shape.ts'
import type { ToolchainPaths } from '../runtimes/toolchains.ts'
import { readInput } from '../policy/hostile-input.ts'
import { absolutePath, describeIssues, limitsSchema, preloadSchema, wording } from '../policy/schemas.ts'

/** What happens while Lazaret works; for logs and metrics. */
export type LazaretEvent =
  | {
      readonly type: 'run-ended'
      readonly id: string
      readonly outcome: string
      readonly wallMs: number
    }
  /** Workers of this kind cannot be started ahead, or end before their run; runs are started anew meanwhile. */
  | {
      readonly type: 'pool-failing'
      readonly runtime: RuntimeName
      readonly language: Language
      readonly reason: string
    }
  /** Once: the machine refuses namespaces, and what runs from now on has a weaker wall. */
  | {
      readonly type: 'protection-lowered'
      readonly level: ProtectionLevel
      readonly reason: string
      readonly fix: string
    }

export interface LazaretOptions {
  /**
   * Below this level a run is refused with JAIL_UNAVAILABLE. Default `restricted`. Snippets have no cell, and so no level:
   * `pools: { snippet: { max: 0 } }` refuses them.
   */
  readonly minimumProtection?: ProtectionLevel
  /** Limits of a run that asks for none. */
  readonly defaults?: Partial<Limits>
  /** What a request may not go above; it is clamped, and its receipt says so. */
  readonly ceilings?: Partial<Limits>
  /** Interpreters to use instead of those that are found. */
  readonly toolchains?: ToolchainPaths
  /**
   * Host folders that every guest may read, and where they appear. Not where the guest's own folders or the system are.
   * Packages of JavaScript are found from /workspace when their `node_modules` appears as `/node_modules`:
   * `{ host: '/srv/app/node_modules', guest: '/node_modules' }`. One with sockets or named pipes is refused with
   * JAIL_UNAVAILABLE where cells cannot have a view of their own of it.
   */
  readonly readable?: readonly { readonly host: string; readonly guest: string }[]
  /**
   * How many workers of a runtime wait for runs: parked in their finished cells, each for one run. Kept from the second
   * request of a kind on, as many as demand makes use of. Default `{ min: 0, max: 8 }`; `max: 0` starts every run anew.
   * For `snippet` it is the number of threads, and 0 refuses snippets.
   */
  readonly pools?: PoolSizes
  /** Python modules that parked workers have imported, unless the request names others. */
  readonly preload?: readonly string[]
  /** Host ids for cells, when started by root. Default 65 536 ids from 2 000 000 000. */
  readonly uidRange?: UidRange
  /** Limits that may go unenforced where nothing on the machine can hold them. */
  readonly allowUnenforced?: readonly LimitName[]
  readonly onEvent?: (event: LazaretEvent) => void
  /** For tests. */
  readonly clock?: Clock
}

/** Where a guest's own folders are, or the host's: nothing else may be mounted there. */
const takenPaths = [
  '/workspace',
  '/tmp',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/proc',
  '/dev',
  '/etc',
  '/run',
  '/sys',
  '/opt/lazaret',
]

const guestPath = absolutePath.refine(
  (path) => path !== '/' && !takenPaths.some((taken) => path === taken || path.startsWith(`${taken}/`)),
  { error: `must not lie inside ${takenPaths.join(', ')}` },
)

/** The last 32-bit id means "no id" to the kernel. */
const idsEnd = 2 ** 32 - 1

const hostPath = absolutePath.refine((path) => existsSync(path), { error: 'does not exist' })

/** Folders of the host that guests may read. */
export const readableSchema = z.array(z.strictObject({ host: hostPath, guest: guestPath })).max(32)

const clockMethods = ['now', 'timestamp', 'after', 'every', 'id'] as const satisfies (keyof Clock)[]

const poolCount = z.int().min(0).max(256)

const schema = z.strictObject({
  minimumProtection: z.enum(protectionLevels).default('restricted'),
  defaults: limitsSchema.default({}),
  ceilings: limitsSchema.default({}),
  toolchains: z
    .strictObject({
      node: absolutePath.optional(),
      bun: absolutePath.optional(),
      python: absolutePath.optional(),
    })
    .default({}),
  readable: readableSchema.default([]),
  pools: z
    .partialRecord(
      z.enum(runtimeNames),
      z
        .strictObject({ min: poolCount.optional(), max: poolCount.optional() })
        .refine(({ min = 0, max = defaultPoolSize.max }) => min <= max, {
          error: 'min must not be above max',
        }),
    )
    .default({}),
  preload: preloadSchema.default([]),
  uidRange: z
    .strictObject({ first: z.int().min(1000), count: z.int().min(256).max(16_777_216) })
    .refine(({ first, count }) => first + count <= idsEnd, { error: `must end below ${idsEnd}` })
    .default(defaultUidRange),
  allowUnenforced: z.array(z.enum(Object.keys(defaultLimits) as LimitName[])).default([]),
  onEvent: z
    .custom<(event: LazaretEvent) => void>((value) => typeof value === 'function', {
      error: 'must be a function',
    })
    .optional(),
  clock: z
    .custom<Clock>(
      (value) => clockMethods.every((name) => typeof (value as Clock | null)?.[name] === 'function'),
      {
        error: `must have the methods ${clockMethods.join(', ')}`,
      },
    )
    .optional(),
})

/** With every gap filled. */
export type ParsedOptions = Required<Omit<LazaretOptions, 'onEvent' | 'clock'>> &
  Pick<LazaretOptions, 'onEvent' | 'clock'>

/** Throws INVALID_REQUEST that names the option. */
export function parseOptions(options: LazaretOptions): ParsedOptions {
  const parsed = readInput(() => schema.safeParse(options, { error: wording }))
  if (parsed.success) return parsed.data as ParsedOptions
  throw new LazaretError('INVALID_REQUEST', {
    detail: `Options: ${describeIssues(parsed.error)}.`,
    hint: 'See LazaretOptions for the keys and their units.',
  })
}

/** Whether a lower level deserves a warning of the process: nobody has named one, and no observer hears of it. */
export function warnsOfLowered(options: LazaretOptions): boolean {
  return readInput(() => options.minimumProtection === undefined && options.onEvent === undefined)
}
