/** The limits that a command line can set. The flags of `run` and `exec` and their values follow from this table. */
import type { Command } from 'commander'
import type { LimitName, Limits } from '../../../core/limits.ts'
import { formatDuration, formatSize, parseCount, parseDuration, parseSize } from './units.ts'

interface LimitFlag {
  readonly limit: LimitName
  /** The help text: what the limit bounds. */
  readonly help: string
  /** The placeholder for the value in the help. */
  readonly value: '<duration>' | '<size>' | '<n>'
  readonly parse: (text: string) => number
  readonly format: (value: number) => string
}

const duration = { value: '<duration>', parse: parseDuration, format: formatDuration } as const
const size = { value: '<size>', parse: parseSize, format: formatSize } as const
const count = { value: '<n>', parse: parseCount, format: String } as const

export const limitFlags = {
  timeout: { limit: 'wallMs', help: 'wall-clock time, e.g. 500ms, 5s, 2m', ...duration },
  cpu: { limit: 'cpuMs', help: 'processor time of all its processes together', ...duration },
  memory: { limit: 'memoryBytes', help: 'memory of all its processes together, e.g. 64MiB', ...size },
  processes: { limit: 'processesMax', help: 'processes and threads at one time', ...count },
  disk: { limit: 'diskBytes', help: 'files in /workspace', ...size },
  output: { limit: 'outputBytes', help: 'stdout and stderr together', ...size },
} as const satisfies Record<string, LimitFlag>

export type LimitFlagName = keyof typeof limitFlags
export type LimitFlags = { readonly [Name in LimitFlagName]?: number }

const entries = Object.entries(limitFlags) as readonly (readonly [LimitFlagName, LimitFlag])[]

export interface LimitWording {
  /** The default values; null means no limit. */
  readonly usual: { readonly [Name in LimitName]?: Limits[Name] | null }
  /** Other things that a limit bounds. */
  readonly besides: Partial<Record<LimitFlagName, string>>
  /** Flags that this command does not have. */
  readonly without?: readonly LimitFlagName[]
}

export function addLimitFlags(command: Command, { usual, besides, without = [] }: LimitWording): Command {
  for (const [name, { limit, help, value, parse, format }] of entries) {
    if (without.includes(name)) continue
    const more = besides[name] === undefined ? '' : `, and ${besides[name]}`
    const bound = usual[limit] ?? null
    const shown = bound === null ? 'none' : format(bound)
    command.option(`--${name} ${value}`, `${help}${more} (default ${shown})`, parse)
  }
  return command
}

/** Only the limits that the command line names; the operator sets the others. */
export function limitsFrom(flags: LimitFlags): Partial<Limits> {
  const named = entries.filter(([name]) => flags[name] !== undefined)
  return Object.fromEntries(named.map(([name, { limit }]) => [limit, flags[name]]))
}
