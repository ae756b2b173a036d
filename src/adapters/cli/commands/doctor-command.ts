/** `lazaret doctor`: inspects the machine, and reports whether it meets the minimum. */
import type { Command } from 'commander'
import { errorTable } from '../../../core/errors/errors.ts'
import type { ProbeReport } from '../../../jail/machine/probe-report.ts'
import { appArmorProfile } from './apparmor-profile.ts'
import type { CommandContext } from './command-context.ts'
import { addEngineOptions, type EngineFlags, resolveConfiguration } from '../options/engine-flags.ts'
import { printDoctor } from '../output/print-doctor.ts'
import { printJson } from '../output/print-json.ts'

const examples = `
Examples:
  lazaret doctor
  lazaret doctor --minimum strong --json
  lazaret doctor --apparmor | sudo tee /etc/apparmor.d/lazaret-cell

docs/operate/deployment.md of the package says where each fix belongs.`

interface DoctorFlags extends EngineFlags {
  readonly apparmor?: boolean
}

/** Prints what this machine offers, and how to raise its protection level. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description('print the layers that this machine has, its protection level, and how to raise it')
  addEngineOptions(command)
    .option(
      '--apparmor',
      'print an AppArmor profile that allows the launcher to create user namespaces, and exit',
    )
    .addHelpText('after', examples)
    .action(() => context.perform(command, () => doctor(command.opts<DoctorFlags>(), context)))
}

async function doctor(flags: DoctorFlags, { signal, duringRun }: CommandContext): Promise<number> {
  if (flags.apparmor === true) {
    process.stdout.write(appArmorProfile())
    return 0
  }
  const { options, files } = await resolveConfiguration(flags)
  const { createLazaret } = await import('../../../engine/lazaret.ts')
  const report = await duringRun(async () => {
    // The report itself covers a low level, so no warning is needed.
    await using lazaret = createLazaret({ ...options, onEvent: () => undefined })
    return await orAbort(lazaret.probe(), signal)
  })
  if (flags.json === true) printJson({ ...report, configuration: files })
  else printDoctor(report, files)
  return report.meetsMinimum ? 0 : errorTable.JAIL_UNAVAILABLE.exitCode
}

/** The probe cannot be interrupted, but the command need not wait for it. */
function orAbort(probe: Promise<ProbeReport>, signal: AbortSignal): Promise<ProbeReport> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  return Promise.race([probe, promise])
}
