/** The options of `run`, as commander parses them, and the subset that `exec` shares. */
import { type Command, Option } from 'commander'
import { defaultLimits } from '../../../core/limits.ts'
import { networkModes, type NetworkMode } from '../../../core/network.ts'
import { addEngineOptions, type EngineFlags } from './engine-flags.ts'
import { addLimitFlags, type LimitFlags } from './limit-flags.ts'

/** Flags for the cell, which both commands have. */
export interface CellFlags extends LimitFlags, EngineFlags {
  readonly stdin?: string
  readonly env?: readonly string[]
  readonly file?: readonly string[]
  readonly collect?: readonly string[]
  readonly outputDir?: string
  readonly network?: NetworkMode
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly secret?: readonly string[]
  readonly envName?: string
}

export interface RunFlags extends CellFlags {
  readonly input?: string
  readonly client?: string
}

export function addRunOptions(command: Command): Command {
  addLimitFlags(command, { usual: defaultLimits, besides: { disk: 'as much again in /tmp' } })
    .option(
      '--input <json|@file>',
      'a value: `input` in JavaScript, `input_data` in Python, the file $INPUT in shell',
    )
    .option('--env <KEY=VALUE>', 'an environment variable (repeatable)', append)
    .option('--client <id>', 'the client that this run is for')
  addCellOptions(command, 'collected files and displayed pictures')
  return addEngineOptions(command)
}

/** `collected` is written to the folder of `--output-dir`. */
export function addCellOptions(command: Command, collected: string): Command {
  return command
    .option(
      '--stdin <file|->',
      'standard input of the program; - means the standard input of this command (default: empty)',
    )
    .option('--file <path[:guest]>', 'a file or folder to place in /workspace (repeatable)', append)
    .option(
      '--collect <glob>',
      'files to bring back from /workspace, e.g. out or "*.csv" (repeatable)',
      append,
    )
    .option('--env-name <name>', 'an environment, whose packages can be imported (see lazaret env)')
    .option('--output-dir <dir>', `where ${collected} are written`)
    .addOption(
      new Option('--network <mode>', 'none, or the network of the host (default none)').choices(networkModes),
    )
    .option(
      '--allow <host[:port]>',
      'a host that may be reached, such as api.example.com, *.example.org:443, 203.0.113.0/24:5432 or localhost:8080 (repeatable)',
      append,
    )
    .option(
      '--deny <host[:port]>',
      'a host that may not be reached, whatever --allow says (repeatable)',
      append,
    )
    .option(
      '--secret <NAME@host,…>',
      "the value of this shell's variable NAME for requests to these hosts alone; the guest gets a placeholder (repeatable)",
      append,
    )
}

export function append(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}
