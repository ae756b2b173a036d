/** `--bound name=value` of the servers: bounds of the server itself, and the bytes that clients may make its process hold. */
import type { QueueOptions } from '../../../policy/room-size.ts'
import { parseCount } from './units.ts'
import { UsageError } from './usage-error.ts'

export const boundFlag = '--bound <name=value>'

export type AskedBounds = Readonly<Record<string, number>>

const ofEngine = 'heldBytesMax' satisfies keyof QueueOptions

export function parseBound(text: string, previous: AskedBounds = {}): AskedBounds {
  const [name = '', value = ''] = text.split('=')
  return { ...previous, [name]: parseCount(value) }
}

export interface Bounds<Name extends string> {
  readonly ofServer: { readonly [Each in Name]?: number }
  /** Changes the engine's `queue`. */
  readonly ofEngine: Pick<QueueOptions, 'heldBytesMax'>
}

/** `names` are those of the server. Throws UsageError for an unknown name, and for a value that is too large. */
export function checkBounds<Name extends string>(
  asked: AskedBounds = {},
  { names, most }: { readonly names: readonly Name[]; readonly most: number },
): Bounds<Name> {
  const known: readonly string[] = [...names, ofEngine]
  const unknown = Object.keys(asked).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new UsageError(`there is no bound ${JSON.stringify(unknown)}.`, `Write one of: ${known.join(', ')}`)
  const { [ofEngine]: heldBytesMax, ...ofServer } = asked
  const large = Object.entries(ofServer).find(([, value]) => value > most)?.[0]
  if (large !== undefined) throw new UsageError(`the bound ${large} is too large.`, `Write at most ${most}.`)
  return {
    ofServer: ofServer as { readonly [Each in Name]?: number },
    ofEngine: heldBytesMax === undefined ? {} : { heldBytesMax },
  }
}
