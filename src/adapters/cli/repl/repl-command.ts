/** `lazaret repl`: code typed line by line, in a code context of a new sandbox. */
import { type Command, Option } from 'commander'
import { networkModes, type NetworkMode } from '../../../core/network.ts'
import { contextLanguages } from '../../../core/work.ts'
import type { ContextLanguage } from '../../../core/work.ts'
import type { CommandContext } from '../commands/command-context.ts'
import { addConfigurationOptions, resolveEngineOptions, type EngineFlags } from '../options/engine-flags.ts'
import { commandTimeout } from '../options/command-timeout.ts'
import type { LimitFlags } from '../options/limit-flags.ts'
import { readSupplies } from '../options/request-from-flags.ts'
import { append } from '../options/run-options.ts'
import { parseDuration, parseSize } from '../options/units.ts'

interface ReplFlags extends EngineFlags, Pick<LimitFlags, 'memory' | 'timeout'> {
  readonly language: ContextLanguage
  readonly file?: readonly string[]
  readonly network?: NetworkMode
  readonly history: boolean
}

const more = `
Variables, imports and functions stay until the end; the code cannot touch this machine. Ctrl-C interrupts the code that
runs and keeps its variables, Tab completes names, and .help says more. Pictures are shown by kitty, Ghostty, iTerm2 and
WezTerm. The history is in $XDG_STATE_HOME/lazaret, or else in ~/.local/state/lazaret, readable only by you.
Piped input is one piece of code, and its outcome is the exit code.

Examples:
  lazaret repl -l python --file data
  echo 'sum(range(10))' | lazaret repl -l python`

export function addReplCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('repl')
    .description('type code into a sandbox, line by line')
    .addOption(
      new Option('-l, --language <language>', 'the language of the code')
        .choices(contextLanguages)
        .default('python'),
    )
    .option('--file <path[:guest]>', 'a file or folder to place in /workspace (repeatable)', append)
    .addOption(
      new Option('--network <mode>', 'none, or the network of the host (default none)').choices(networkModes),
    )
    .option('--memory <size>', 'memory of the interpreter, e.g. 2GiB (default 512MiB)', parseSize)
    .option('--timeout <duration>', 'wall-clock time of each piece of code (default none)', parseDuration)
    .option('--no-history', 'neither read nor write the history')
  addConfigurationOptions(command)
    .addHelpText('after', more)
    .action(() => context.perform(command, () => repl(command.opts<ReplFlags>(), context)))
}

async function repl(flags: ReplFlags, context: CommandContext): Promise<number> {
  const { signal, warn } = context
  const engineOptions = await resolveEngineOptions(flags, context)
  const { file, network } = flags
  const asked = { ...(file !== undefined && { file }), ...(network !== undefined && { network }) }
  const supplies = await readSupplies(asked, { signal, limits: engineOptions.defaults ?? {}, warn })
  const { startRepl } = await import('./repl.ts')
  return context.duringRun(() =>
    startRepl({
      engineOptions,
      language: flags.language,
      supplies,
      memoryBytes: flags.memory,
      timeoutMs: commandTimeout(flags.timeout, engineOptions) ?? null,
      keepsHistory: flags.history,
      signal,
      warn,
    }),
  )
}
