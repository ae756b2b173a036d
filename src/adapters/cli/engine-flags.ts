/** The options that every command has, and what they make of the configuration. */
import { type Command, Option } from 'commander'
import { protectionLevels, type ProtectionLevel } from '../../core/protection.ts'
import type { LazaretOptions } from '../../engine/options.ts'
import type { CommandContext } from './command-context.ts'
import type { Configuration } from './configuration.ts'

export interface EngineFlags {
  readonly minimum?: ProtectionLevel
  readonly config?: string
  readonly json?: boolean
}

const configHelp =
  'the one configuration that counts (default: $LAZARET_CONFIG, or lazaret.config.json in ~/.config/lazaret or else ' +
  '/etc/lazaret; without a named one, any lazaret.config.json here or in a folder above can lower limits and raise ' +
  'minimumProtection, and nothing else)'

export function addEngineOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--minimum <level>', 'refuse below this level of protection (default restricted)').choices(
        protectionLevels,
      ),
    )
    .option('--config <file>', configHelp)
    .option('--json', 'print exactly one JSON document on standard output')
}

/** The configuration, overruled by the flags. What was found on the way is announced. */
export async function resolveEngineOptions(
  flags: EngineFlags,
  { warn }: Pick<CommandContext, 'warn'>,
): Promise<LazaretOptions> {
  const { options, files } = await resolveConfiguration(flags)
  const { describeFound } = await import('./configuration.ts')
  for (const line of describeFound(files)) warn(line)
  return options
}

/** The same, with the files that it comes from. */
export async function resolveConfiguration({ minimum, config }: EngineFlags): Promise<Configuration> {
  // What checks it takes longer to load than all that a command without an engine needs.
  const { loadConfiguration, usualPlaces } = await import('./configuration.ts')
  const { options, files } = await loadConfiguration(usualPlaces(config))
  return { options: minimum === undefined ? options : { ...options, minimumProtection: minimum }, files }
}
