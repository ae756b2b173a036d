/** The command line as a whole: parses it, performs one command, and returns the exit code. */
import { Command } from 'commander'
import { addAuditCommand } from './commands/audit-command.ts'
import type { CommandContext } from './commands/command-context.ts'
import { addDoctorCommand } from './commands/doctor-command.ts'
import { addEnvCommand } from './commands/env-command.ts'
import { addExecCommand } from './commands/exec-command.ts'
import { exitCodeOf } from '../../core/outcome.ts'
import { type Interruption, watchInterruption } from './commands/interruption.ts'
import { addKeysCommand } from './commands/keys-command.ts'
import { readPackageVersion } from './package-version.ts'
import { addMcpCommand } from './commands/mcp-command.ts'
import { printError } from './output/print-error.ts'
import { addReceiptCommand } from './commands/receipt-command.ts'
import { addRunCommand } from './commands/run-command.ts'
import { addServeCommand } from './commands/serve-command.ts'
import { addSnippetCommand } from './commands/snippet-command.ts'
import { addReplCommand } from './repl/repl-command.ts'
import { describeSystemError } from './output/system-error.ts'
import { resetOn, toSingleLine } from './output/terminal-text.ts'
import { addTokenCommand } from './commands/token-command.ts'
import { UsageError } from './options/usage-error.ts'

/** A shell's exit code for a program that SIGPIPE ended, as in `lazaret run … | head -1`. */
export const outputClosedExitCode = 128 + 13
export const outputFailedExitCode = 70
/** Warnings that may wait for somebody who reads them. */
const warningBytesMax = 64 * 1024

export async function runProgram(args: readonly string[]): Promise<number> {
  using interruption = watchInterruption()
  const exitCode = await parseAndPerform(args, interruption)
  // An error of the last write arrives later than the write.
  await new Promise((resolve) => process.stdout.write('', resolve))
  const failure = interruption.outputError()
  if (failure === undefined) return exitCode
  process.stderr.write(
    `lazaret: cannot write standard output: ${describeSystemError(failure) ?? failure.message}.\n`,
  )
  return outputFailedExitCode
}

async function parseAndPerform(args: readonly string[], interruption: Interruption): Promise<number> {
  const { signal } = interruption
  // A guess, until commander has parsed the line, at whether errors are expected as JSON.
  let json = args.includes('--json')
  let exitCode = 0
  const context: CommandContext = {
    signal,
    duringRun: interruption.duringRun,
    warn: (message) => {
      // The rest is lost: nobody reads.
      if (process.stderr.writableLength < warningBytesMax)
        process.stderr.write(`lazaret: ${toSingleLine(message)}\n`)
    },
    async perform(command, work) {
      json = command.opts<{ json?: boolean }>().json === true
      requireCurrentFolder()
      exitCode = await work()
    },
  }
  try {
    await createProgram(context).parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) return printError(error, { json })
    if (interruption.isOutputClosed()) return outputClosedExitCode
    if (interruption.outputError() === undefined)
      process.stderr.write(`${resetOn(process.stderr)}lazaret: cancelled\n`)
    return exitCodeOf({ kind: 'cancelled' })
  }
}

/** Without a current folder Node starts no thread, and relative paths have no meaning. */
function requireCurrentFolder(): void {
  try {
    process.cwd()
  } catch {
    throw new UsageError('the current folder no longer exists.', 'Change to one that does: cd ~')
  }
}

export function createProgram(context: CommandContext): Command {
  const program = new Command('lazaret')
    .description('Runs untrusted code, each run in its own kernel jail.')
    .version(readPackageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .enablePositionalOptions()
    .exitOverride()
    // Errors are printed in one place, print-error.ts.
    .configureOutput({ outputError: () => undefined })
  addRunCommand(program, context)
  addExecCommand(program, context)
  addReplCommand(program, context)
  addSnippetCommand(program, context)
  addMcpCommand(program, context)
  addServeCommand(program, context)
  addTokenCommand(program, context)
  addEnvCommand(program, context)
  addDoctorCommand(program, context)
  addAuditCommand(program, context)
  addReceiptCommand(program, context)
  addKeysCommand(program, context)
  program.addHelpText('after', `\nExample:\n  lazaret run -l python -e 'sum(range(10))'`)
  return program
}
