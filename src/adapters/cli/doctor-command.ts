/** `lazaret doctor`: looks at the machine, and answers with whether it meets the minimum. */
import type { Command } from 'commander'
import { errorTable } from '../../core/errors.ts'
import type { ProbeReport } from '../../jail/probe-report.ts'
import { createLazaret } from '../../engine/lazaret.ts'
import type { CommandContext } from './command-context.ts'
import { addEngineOptions, type EngineFlags, resolveEngineOptions } from './engine-flags.ts'
import { printDoctor } from './print-doctor.ts'
import { printJson } from './print-json.ts'

const examples = `
Examples:
  lazaret doctor
  lazaret doctor --minimum strong --json`

/** `lazaret doctor`: what this machine offers, and how to raise it. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description('say what this machine offers, which level of protection that makes, and how to raise it')
  addEngineOptions(command)
    .addHelpText('after', examples)
    .action(() => context.perform(command, () => doctor(command.opts<EngineFlags>(), context)))
}

async function doctor(flags: EngineFlags, { signal, duringRun }: CommandContext): Promise<number> {
  const options = await resolveEngineOptions(flags)
  const report = await duringRun(async () => {
    await using lazaret = createLazaret(options)
    return await orAbort(lazaret.probe(), signal)
  })
  if (flags.json === true) printJson(report)
  else printDoctor(report)
  return report.meetsMinimum ? 0 : errorTable.JAIL_UNAVAILABLE.exitCode
}

/** The probe cannot be interrupted, but nobody has to wait for it. */
function orAbort(probe: Promise<ProbeReport>, signal: AbortSignal): Promise<ProbeReport> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  return Promise.race([probe, promise])
}
