import type { LazaretOptions } from '../../../engine/options/options.ts'
import { usualPlaces } from '../configuration/config-places.ts'
import type { EngineFlags } from '../options/engine-flags.ts'
import { listProtected } from '../configuration/protected-paths.ts'
import { OutputFolder } from './output-folder.ts'

interface OutputFlags extends EngineFlags {
  readonly outputDir?: string
}

/** The folder of `--output-dir`, or null without that flag. Files that Lazaret commands use are never written there. */
export async function openOutput(
  { outputDir, config }: OutputFlags,
  { toolchains }: LazaretOptions,
): Promise<OutputFolder | null> {
  if (outputDir === undefined) return null
  return OutputFolder.open(outputDir, listProtected(usualPlaces(config), toolchains))
}
