/** The options that every command has, and what they make of the configuration. */
import { type Command, Option } from 'commander'
import { protectionLevels, type ProtectionLevel } from '../../core/protection.ts'
import type { LazaretOptions } from '../../engine/options.ts'

export interface EngineFlags {
  readonly minimum?: ProtectionLevel
  readonly config?: string
  readonly json?: boolean
}

export function addEngineOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--minimum <level>', 'refuse below this level of protection (default restricted)').choices(
        protectionLevels,
      ),
    )
    .option('--config <file>', 'configuration (default: lazaret.config.json here or in a folder above)')
    .option('--json', 'print exactly one JSON document on standard output')
}

/** The configuration file, overruled by the flags. */
export async function resolveEngineOptions({ minimum, config }: EngineFlags): Promise<LazaretOptions> {
  // What checks it takes longer to load than all that a command without an engine needs.
  const { loadConfig } = await import('./config-file.ts')
  const options = await loadConfig(config, process.cwd())
  return minimum === undefined ? options : { ...options, minimumProtection: minimum }
}
