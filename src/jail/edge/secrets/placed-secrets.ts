/**
 * Replaces placeholders with values in the places that a secret allows. Pure.
 */
import type { SecretPlace } from '../../../core/secrets.ts'

/** A secret that is for the host of a connection. */
export interface PlacedSecret {
  readonly placeholder: string
  readonly value: string
  readonly places: readonly SecretPlace[]
}

/** Names and values in turn, like Node's `rawHeaders`. */
export type RawHeaders = readonly string[]

export function placeInHeaders(headers: RawHeaders, secrets: readonly PlacedSecret[]): string[] {
  const allowed = secrets.filter(({ places }) => places.includes('header'))
  return headers.map((text, index) => {
    if (index % 2 === 0) return text
    const isCredentials = headers[index - 1]?.toLowerCase() === 'authorization'
    return placeInCredentials(isCredentials, placeIn(text, allowed), allowed)
  })
}

/** Only in the query, where the value is percent-encoded; the path stays as it is. */
export function placeInTarget(target: string, secrets: readonly PlacedSecret[]): string {
  const allowed = secrets.filter(({ places }) => places.includes('query'))
  const start = target.indexOf('?')
  if (start === -1) return target
  return target.slice(0, start) + placeIn(target.slice(start), allowed, encodeURIComponent)
}

/**
 * In strings of JSON; JSON escapes no character of a placeholder. Undefined if the result would be longer than the bound:
 * thousands of placeholders are short, but thousands of values may not be.
 */
export function placeInJson(
  text: string,
  secrets: readonly PlacedSecret[],
  lengthMax: number,
): string | undefined {
  const allowed = secrets.filter(({ places }) => places.includes('json'))
  const more = allowed.map(
    ({ placeholder, value }) =>
      (text.split(placeholder).length - 1) * (inJson(value).length - placeholder.length),
  )
  if (more.reduce((sum, one) => sum + one, text.length) > lengthMax) return undefined
  return placeIn(text, allowed, inJson)
}

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1)

function placeIn(
  text: string,
  secrets: readonly PlacedSecret[],
  encode: (value: string) => string = (value) => value,
): string {
  return secrets.reduce(
    (changed, { placeholder, value }) => changed.replaceAll(placeholder, () => encode(value)),
    text,
  )
}

/** A user name and a password travel in base64 (RFC 7617). */
function placeInCredentials(isCredentials: boolean, text: string, secrets: readonly PlacedSecret[]): string {
  const encoded = isCredentials ? /^basic +([A-Za-z0-9+/=]+)$/i.exec(text)?.[1] : undefined
  if (encoded === undefined) return text
  const plain = Buffer.from(encoded, 'base64').toString('latin1')
  const placed = placeIn(plain, secrets)
  return placed === plain ? text : `Basic ${Buffer.from(placed, 'latin1').toString('base64')}`
}
