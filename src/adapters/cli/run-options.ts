/** The options of `run`, and those of them that `exec` has too, as commander parses them. */
import { type Command, Option } from 'commander'
import { defaultLimits, type Limits } from '../../core/limits.ts'
import { networkModes, type NetworkMode } from '../../core/request.ts'
import { addEngineOptions, type EngineFlags } from './engine-flags.ts'
import { formatDuration, formatSize, parseCount, parseDuration, parseSize } from './units.ts'

export interface LimitFlags {
  readonly timeout?: number
  readonly cpu?: number
  readonly memory?: number
  readonly processes?: number
  readonly disk?: number
  readonly output?: number
}

/** What both say of the cell that they want. */
export interface CellFlags extends LimitFlags, EngineFlags {
  readonly stdin?: string
  readonly env?: readonly string[]
  readonly file?: readonly string[]
  readonly collect?: readonly string[]
  readonly outputDir?: string
  readonly network?: NetworkMode
}

export interface RunFlags extends CellFlags {
  readonly input?: string
  readonly client?: string
}

export function addRunOptions(command: Command): Command {
  addTimeoutOption(command, formatDuration(defaultLimits.wallMs))
    .option(
      '--cpu <duration>',
      'processor time of all its processes together (default no limit)',
      parseDuration,
    )
    .option(
      '--input <json|@file>',
      'a value: `input` in JavaScript, `input_data` in Python, the file $INPUT in shell',
    )
    .option('--env <KEY=VALUE>', 'an environment variable (repeatable)', append)
    .option('--client <id>', 'the client that this run is for')
  addCellOptions(command, {
    limits: defaultLimits,
    collected: 'collected files and displayed pictures',
    besides: 'as much again in /tmp',
  })
  return addEngineOptions(command)
}

export function addTimeoutOption(command: Command, usual: string): Command {
  return command.option(
    '--timeout <duration>',
    `real time, e.g. 500ms, 5s, 2m (default ${usual})`,
    parseDuration,
  )
}

interface CellWording {
  /** The usual ones. */
  readonly limits: Limits
  /** What is written to the folder of `--output-dir`. */
  readonly collected: string
  /** Where besides /workspace files can be written, and how many. */
  readonly besides: string
}

export function addCellOptions(command: Command, { limits, collected, besides }: CellWording): Command {
  const { memoryBytes, processesMax, diskBytes, outputBytes } = limits
  const add = (flags: string, description: string, parse: (text: string) => number): void => {
    command.option(flags, description, parse)
  }
  add(
    '--memory <size>',
    `memory of all its processes together, e.g. 64MiB (default ${formatSize(memoryBytes)})`,
    parseSize,
  )
  add('--processes <n>', `processes and threads at one time (default ${processesMax})`, parseCount)
  add('--disk <size>', `files in /workspace, and ${besides} (default ${formatSize(diskBytes)})`, parseSize)
  add('--output <size>', `stdout and stderr together (default ${formatSize(outputBytes)})`, parseSize)
  return command
    .option(
      '--stdin <file|->',
      'what the program reads from standard input; - hands it ours (default: empty)',
    )
    .option('--file <path[:guest]>', 'a file or folder to place in /workspace (repeatable)', append)
    .option(
      '--collect <glob>',
      'files to bring back from /workspace, e.g. out or "*.csv" (repeatable)',
      append,
    )
    .option('--output-dir <dir>', `where ${collected} are written`)
    .addOption(
      new Option('--network <mode>', 'none, or the network of the host (default none)').choices(networkModes),
    )
}

export function append(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}
