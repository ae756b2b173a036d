/** `lazaret exec`: one command in a new sandbox. */
import type { Command } from 'commander'
import { explainBadPattern } from '../../../runtimes/collect/pattern.ts'
import type { CommandContext } from './command-context.ts'
import { resolveEngineOptions } from '../options/engine-flags.ts'
import { addExecOptions, type ExecFlags } from '../options/exec-options.ts'
import { parseEnv, readSupplies } from '../options/request-from-flags.ts'
import { toShellCode } from '../options/shell-code.ts'
import { UsageError } from '../options/usage-error.ts'

const examples = `
A single word after -- is a line of bash; several words are a command and its arguments, passed on unchanged.
Only --timeout, or a wallMs of the configuration, limits the command's time. Output beyond --output is dropped, and
a line says so. For --input, --cpu and --client use lazaret run -l shell -e <code>.

Examples:
  lazaret exec -- 'ls -la / | wc -l'
  lazaret exec --file data --timeout 5s -- sort -k2 data/names.txt
  lazaret exec --network host --env API_TOKEN="$API_TOKEN" --collect release.json --output-dir . -- \\
    'curl -sH "Authorization: Bearer $API_TOKEN" https://api.example.com/release > release.json'`

export function addExecCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('exec')
    .description('run one shell command in a new sandbox')
    .usage('[options] -- <command>')
    .argument('[command...]', 'the command')
    .passThroughOptions()
  addExecOptions(command)
    .addHelpText('after', examples)
    .action(() => context.perform(command, () => exec(command.args, command.opts<ExecFlags>(), context)))
}

async function exec(words: readonly string[], flags: ExecFlags, context: CommandContext): Promise<number> {
  const { signal, warn, duringRun } = context
  const command = toShellCode(words)
  checkPatterns(flags.collect ?? [])
  const variables = parseEnv(flags.variable ?? [], '--variable')
  const engineOptions = await resolveEngineOptions(flags, context)
  const supplies = await readSupplies(flags, { signal, limits: engineOptions.defaults ?? {}, warn })
  const { execOnce } = await import('./exec-once.ts')
  return execOnce({ engineOptions, command, supplies, variables, flags, signal, duringRun })
}

/** Checks the patterns before any work starts, because the sandbox itself never sees them. */
function checkPatterns(patterns: readonly string[]): void {
  for (const pattern of patterns) {
    const problem = explainBadPattern(pattern)
    if (problem === undefined) continue
    throw new UsageError(`--collect ${pattern}: ${problem}.`, 'Write a pattern such as out or "*.csv".')
  }
}
