/**
 * Replaces placeholders with values in the places that a secret allows, and lists the texts to hide in answers. Pure.
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

/**
 * The texts to hide in answers: each value, and its forms in a URL, in JSON, in HTML, in base64 and in hexadecimal. If an
 * encoding leaves a choice, the form is that of common libraries. In most keys, no character has an escaped form.
 */
export function hiddenForms(secrets: readonly PlacedSecret[]): string[] {
  const forms = secrets.flatMap(({ value }) => [
    value,
    ...urlForms(value),
    ...jsonForms(value),
    ...htmlForms(value),
    ...base64Forms(value),
    Buffer.from(value).toString('hex'),
  ])
  return [...new Set(forms)]
}

/** The forms in a component of a URL, in a path, and in form data. */
function urlForms(value: string): string[] {
  const part = encodeURIComponent(value)
  const strict = part.replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
  return [part, strict].flatMap((one) => [one, one.replaceAll('%2F', '/'), one.replaceAll('%20', '+')])
}

/** PHP escapes slashes, and Go the special characters of HTML. */
function jsonForms(value: string): string[] {
  const plain = inJson(value)
  const escaped = plain.replaceAll(/[&<>]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [plain, plain.replaceAll('/', '\\/'), escaped]
}

const htmlNames: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt' }

/** Quotes stay as they are in a text, and have several forms in an attribute. */
function htmlForms(value: string): string[] {
  const escaped = value.replaceAll(/[&<>]/g, (one) => `&${htmlNames[one]};`)
  return ['"', '&quot;', '&#34;'].flatMap((double) =>
    ["'", '&#39;', '&#039;', '&#x27;'].map((single) =>
      escaped.replaceAll('"', double).replaceAll("'", single),
    ),
  )
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

/**
 * The base64 characters of a value at each of the three alignments, without those at its ends that also depend on the
 * neighbouring bytes.
 */
function base64Forms(value: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)])
    const whole = bytes.toString('base64').replace(/=+$/, '')
    const own = whole.slice(before === 0 ? 0 : before + 1, Math.floor((bytes.length * 8) / 6))
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
