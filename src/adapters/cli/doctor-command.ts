/** `lazaret doctor`: looks at the machine, and answers with whether it meets the minimum. */
import type { Command } from 'commander'
import { errorTable } from '../../core/errors.ts'
import type { ProbeReport } from '../../jail/probe-report.ts'
import { appArmorProfile } from './apparmor-profile.ts'
import type { CommandContext } from './command-context.ts'
import { addEngineOptions, type EngineFlags, resolveConfiguration } from './engine-flags.ts'
import { printDoctor } from './print-doctor.ts'
import { printJson } from './print-json.ts'

const examples = `
Examples:
  lazaret doctor
  lazaret doctor --minimum strong --json
  lazaret doctor --apparmor | sudo tee /etc/apparmor.d/lazaret-cell

Where each fix belongs stands in docs/deployment.md of the package.`

interface DoctorFlags extends EngineFlags {
  readonly apparmor?: boolean
}

/** `lazaret doctor`: what this machine offers, and how to raise it. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description('say what this machine offers, which level of protection that makes, and how to raise it')
  addEngineOptions(command)
    .option('--apparmor', 'print an AppArmor profile that allows user namespaces to the launcher, and end')
    .addHelpText('after', examples)
    .action(() => context.perform(command, () => doctor(command.opts<DoctorFlags>(), context)))
}

async function doctor(flags: DoctorFlags, { signal, duringRun }: CommandContext): Promise<number> {
  if (flags.apparmor === true) {
    process.stdout.write(appArmorProfile())
    return 0
  }
  const { options, files } = await resolveConfiguration(flags)
  const { createLazaret } = await import('../../engine/lazaret.ts')
  const report = await duringRun(async () => {
    // A lower level is what the report is about: it needs no warning besides.
    await using lazaret = createLazaret({ ...options, onEvent: () => undefined })
    return await orAbort(lazaret.probe(), signal)
  })
  if (flags.json === true) printJson({ ...report, configuration: files })
  else printDoctor(report, files)
  return report.meetsMinimum ? 0 : errorTable.JAIL_UNAVAILABLE.exitCode
}

/** The probe cannot be interrupted, but nobody has to wait for it. */
function orAbort(probe: Promise<ProbeReport>, signal: AbortSignal): Promise<ProbeReport> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  return Promise.race([probe, promise])
}
