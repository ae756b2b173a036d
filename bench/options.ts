/** The command line of the benchmark. */
import { parseArgs } from 'node:util'

import { sectionNames } from './sections.ts'
import type { SectionName } from './sections.ts'

export interface BenchOptions {
  /** Turns of each rival in a table of latencies. */
  readonly turns: number
  /** Time of each contestant at each level of throughput. */
  readonly seconds: number
  /** Levels of throughput, rising. */
  readonly inFlight: readonly number[]
}

export interface CommandLine extends BenchOptions {
  readonly only: readonly SectionName[]
  readonly isJson: boolean
  readonly isHelp: boolean
}

const defaults = { turns: 60, seconds: 1, inFlight: [1, 8, 50] } as const
const turnsMax = 10_000
const secondsMax = 3600
const inFlightMax = 1000

export const usage = `npm run bench [-- options]

Measures Lazaret and its alternatives in turn on this machine. bench/README.md explains the report.

  --turns <n>      turns of each rival in a table of latencies (default ${defaults.turns})
  --seconds <n>    time of each contestant at each level of throughput (default ${defaults.seconds})
  --in-flight <n>  levels of throughput, with commas between (default ${defaults.inFlight.join(',')})
  --only <names>   sections, with commas between: ${sectionNames.join(', ')}
  --json           one JSON document on stdout instead of tables
  --help           this text

Ends with 1 when a run was refused or went wrong, with 2 for a wrong option, with 130 after Ctrl-C.
`

/** An invalid command line; the message gives the reason. */
export class UsageError extends Error {}

export function parseCommandLine(args: readonly string[]): CommandLine {
  const values = parse(args)
  return {
    turns: positive('--turns', values.turns, { isWhole: true, max: turnsMax }) ?? defaults.turns,
    seconds: positive('--seconds', values.seconds, { isWhole: false, max: secondsMax }) ?? defaults.seconds,
    inFlight: toLevels(values['in-flight']),
    only: values.only === undefined ? sectionNames : values.only.split(',').map(toSectionName),
    isJson: values.json === true,
    isHelp: values.help === true,
  }
}

interface Values {
  readonly turns?: string
  readonly seconds?: string
  readonly 'in-flight'?: string
  readonly only?: string
  readonly json?: boolean
  readonly help?: boolean
}

function parse(args: readonly string[]): Values {
  try {
    const options = {
      turns: { type: 'string' },
      seconds: { type: 'string' },
      'in-flight': { type: 'string' },
      only: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function positive(
  name: string,
  text: string | undefined,
  { isWhole, max }: { readonly isWhole: boolean; readonly max: number },
): number | undefined {
  if (text === undefined) return undefined
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value > 0 && value <= max && (!isWhole || Number.isInteger(value))) return value
  throw new UsageError(
    `${name} takes a ${isWhole ? 'whole ' : ''}number above 0 and up to ${max}, not ${text}.`,
  )
}

function toLevels(text: string | undefined): readonly number[] {
  if (text === undefined) return defaults.inFlight
  const bounds = { isWhole: true, max: inFlightMax }
  return text
    .split(',')
    .map((level) => positive('--in-flight', level, bounds) ?? 1)
    .toSorted((a, b) => a - b)
}

function toSectionName(text: string): SectionName {
  const name = sectionNames.find((known) => known === text.trim())
  if (name !== undefined) return name
  throw new UsageError(`--only takes ${sectionNames.join(', ')}, not ${text}.`)
}
