/** `lazaret run`: a program from a file, the command line or standard input. */
import { type Command, Option } from 'commander'
import { languages, runtimeNames } from '../../../core/request.ts'
import type { CommandContext } from './command-context.ts'
import { resolveEngineOptions } from '../options/engine-flags.ts'
import { type ProgramFlags, readProgram } from '../options/program-source.ts'
import { createRequest } from '../options/request-from-flags.ts'
import { addRunOptions } from '../options/run-options.ts'

const examples = `
Everything after the file is passed to the program unchanged.

Examples:
  lazaret run report.py --year 2026
  lazaret run --file data --input '{"limit": 10}' --timeout 5s analyse.ts
  lazaret run -l javascript -e '[1, 2, 3].map((n) => n * n)'
  generate-code | lazaret run -l python --memory 128MiB --json -`

export function addRunCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('run')
    .description('run a program once, from a file, standard input or --eval, in a fresh cell')
    .usage('[options] [file | -] [args…]')
    .argument('[file]', 'the program; - reads it from standard input')
    .argument('[args...]', "the program's own arguments")
    .passThroughOptions()
    .addOption(
      new Option('-l, --language <name>', 'the language (default: from the file extension)').choices(
        languages,
      ),
    )
    .option('-e, --eval <code>', 'run this code instead of a file')
    .addOption(
      new Option('--runtime <name>', 'how to run it (default: bun for JavaScript and TypeScript)').choices(
        runtimeNames,
      ),
    )
  addRunOptions(command)
    .addHelpText('after', examples)
    .action(() => context.perform(command, () => run(command.args, command.opts<ProgramFlags>(), context)))
}

async function run(
  operands: readonly string[],
  flags: ProgramFlags,
  context: CommandContext,
): Promise<number> {
  const { signal, warn, duringRun } = context
  const engineOptions = await resolveEngineOptions(flags, context)
  const limits = engineOptions.defaults ?? {}
  const source = await readProgram(operands, flags, { ...limits, signal })
  const request = await createRequest(source, flags, { signal, limits, warn })
  // The engine is loaded on demand, so that other commands start in half the time.
  const { runOnce } = await import('./run-once.ts')
  return runOnce({ engineOptions, request, flags, duringRun })
}
