/** The options that every command has, and how they change the configuration. */
import { type Command, Option } from 'commander'
import { defaultMinimum, protectionLevels } from '../../../core/protection.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import { usualPlaces } from '../configuration/config-places.ts'
import type { CommandContext } from '../commands/command-context.ts'
import type { Configuration } from '../configuration/configuration.ts'

/**
 * Flags that override options of the configuration. Their values are checked here, because loading the table of options
 * takes longer than a command without an engine.
 */
export const optionFlags = {
  minimum: {
    option: 'minimumProtection',
    value: '<level>',
    choices: protectionLevels,
    help: `refuse below this level of protection (default ${defaultMinimum})`,
  },
} as const satisfies Record<string, OptionFlag>

interface OptionFlag {
  readonly option: keyof LazaretOptions
  readonly value: string
  readonly choices: readonly string[]
  readonly help: string
}

type OptionFlags = {
  readonly [Name in keyof typeof optionFlags]?: NonNullable<
    LazaretOptions[(typeof optionFlags)[Name]['option']]
  >
}

export interface EngineFlags extends OptionFlags {
  readonly config?: string
  readonly json?: boolean
}

const configHelp =
  'the configuration file (default: $LAZARET_CONFIG, or lazaret.config.json in ~/.config/lazaret or else /etc/lazaret; ' +
  'unless a file is named, any lazaret.config.json here or in a folder above can lower limits and raise ' +
  'minimumProtection, and nothing else)'

const entries = Object.entries(optionFlags) as readonly (readonly [keyof OptionFlags, OptionFlag])[]

export function addEngineOptions(command: Command): Command {
  return addConfigurationOptions(command).option(
    '--json',
    'print exactly one JSON document on standard output',
  )
}

/** For a command whose standard output carries data. */
export function addConfigurationOptions(command: Command): Command {
  for (const [name, { value, choices, help }] of entries)
    command.addOption(new Option(`--${name} ${value}`, help).choices(choices))
  return command.option('--config <file>', configHelp)
}

/** The configuration, overridden by the flags. Prints notices about found files. */
export async function resolveEngineOptions(
  flags: EngineFlags,
  { warn }: Pick<CommandContext, 'warn'>,
): Promise<LazaretOptions> {
  return (await resolveAnnounced(flags, { warn })).options
}

/** The same, with the key `serve`. */
export async function resolveAnnounced(
  flags: EngineFlags,
  { warn }: Pick<CommandContext, 'warn'>,
): Promise<Configuration> {
  const configuration = await resolveConfiguration(flags)
  const { describeFound } = await import('../configuration/configuration.ts')
  for (const line of describeFound(configuration.files)) warn(line)
  return configuration
}

/** The same, with the list of files. */
export async function resolveConfiguration(flags: EngineFlags): Promise<Configuration> {
  // Loading the code that checks it takes longer than a whole command without an engine.
  const { loadConfiguration } = await import('../configuration/configuration.ts')
  const configuration = await loadConfiguration(usualPlaces(flags.config))
  const named = entries.filter(([name]) => flags[name] !== undefined)
  const overrides = Object.fromEntries(named.map(([name, { option }]) => [option, flags[name]]))
  return { ...configuration, options: { ...configuration.options, ...overrides } }
}
