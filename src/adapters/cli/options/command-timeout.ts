/** How long a command or a piece of code in a sandbox may take. */
import type { LazaretOptions } from '../../../engine/options/options.ts'

/** No timeout unless one is named. A sandbox has no wall limit, so the operator's wall limit is applied here. */
export function commandTimeout(
  asked: number | undefined,
  { defaults, ceilings }: LazaretOptions,
): number | undefined {
  const wanted = asked ?? defaults?.wallMs
  const ceiling = ceilings?.wallMs
  if (wanted === undefined || ceiling === undefined) return wanted ?? ceiling
  return Math.min(wanted, ceiling)
}
