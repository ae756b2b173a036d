import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { resolveEngineOptions } from './engine-flags.ts'
import { createRequest, type ProgramSource } from './request-from-flags.ts'
import { runOnce } from './run-once.ts'
import { addRunOptions, type RunFlags } from './run-options.ts'
import { toShellCode } from './shell-code.ts'

const examples = `
One word after -- is a line for the shell; several are a command and its arguments, each passed on as it is.

Examples:
  lazaret exec -- 'ls -la / | wc -l'
  lazaret exec --file data --timeout 5s -- sort -k2 data/names.txt`

/** `lazaret exec`: one shell command in a fresh cell. */
export function addExecCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('exec')
    .description('run one shell command, in a cell of its own')
    .usage('[options] -- <command>')
    .argument('[command...]', 'the command')
    .passThroughOptions()
  addRunOptions(command)
    .addHelpText('after', examples)
    .action(() => context.perform(command, () => exec(command.args, command.opts<RunFlags>(), context)))
}

async function exec(words: readonly string[], flags: RunFlags, context: CommandContext): Promise<number> {
  const { signal, warn, duringRun } = context
  const source: ProgramSource = { code: toShellCode(words), language: 'shell', args: [] }
  const engineOptions = await resolveEngineOptions(flags)
  const request = await createRequest(source, flags, { signal, limits: engineOptions.defaults ?? {}, warn })
  return runOnce({ engineOptions, request, flags, duringRun })
}
