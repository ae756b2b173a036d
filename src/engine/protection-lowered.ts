import type { LazaretEvent } from './options.ts'

export type ProtectionLowered = Extract<LazaretEvent, { type: 'protection-lowered' }>

/** Where nobody named a level and nobody listens, a weaker wall must not come unnoticed. */
export function warnOfLowered({ level, reason, fix }: ProtectionLowered): void {
  process.emitWarning(`Runs are protected at level ${level} only. ${reason}`, {
    type: 'LazaretWarning',
    code: 'LAZARET_PROTECTION_LOWERED',
    detail: `${fix} To accept the level, name it as minimumProtection.`,
  })
}
