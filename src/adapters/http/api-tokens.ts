/**
 * The tokens of `lazaret serve`: who may call, for which purposes, and how much. The file has hashes instead of tokens. It
 * is read again when it changes; while it cannot be read, nobody is admitted.
 */
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { exposureOf } from '../../core/private-file.ts'
import { describeIssues, parsing } from '../../policy/schemas.ts'
import { findEntry, type TokenEntry } from './bearer-tokens.ts'

export const tokenScopes = ['run', 'sandbox', 'admin'] as const
export type TokenScope = (typeof tokenScopes)[number]

/** What a request gets only if its token's entry allows it by name. */
export const tokenGrants = [
  'network',
  'ports',
  'preload',
  'readable',
  'workspace',
  'degraded-secrets',
] as const
export type TokenGrant = (typeof tokenGrants)[number]

export interface ApiToken extends TokenEntry {
  readonly scopes: readonly TokenScope[]
  readonly allow: readonly TokenGrant[]
  /** Pieces of work that it may begin per minute. */
  readonly perMinute?: number | undefined
  /** Pieces of work at one time. */
  readonly running?: number | undefined
}

/** An entry as the file has it. */
export interface TokenRecord {
  readonly name: string
  readonly sha256: string
  readonly scopes: readonly TokenScope[]
  readonly allow?: readonly TokenGrant[] | undefined
  readonly perMinute?: number | undefined
  readonly running?: number | undefined
}

export const tokensMax = 1000
const fileBytesMax = 1024 * 1024
/** How often the file is checked for changes. */
const lookMs = 500

export const tokenName = z.string().regex(/^[\w.@-]{1,64}$/, 'must be 1 to 64 letters, digits and _ . @ -')

const recordSchema = z.strictObject({
  name: tokenName,
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'),
  scopes: z.array(z.enum(tokenScopes)).min(1),
  allow: z.array(z.enum(tokenGrants)).optional(),
  perMinute: z.int().min(1).max(1_000_000).optional(),
  running: z.int().min(1).max(10_000).optional(),
})
const fileSchema = z.strictObject({ tokens: z.array(recordSchema).max(tokensMax) })

/** Returns the first mistake in a new entry: its field, and what is wrong with it. */
export function findMistake(
  record: TokenRecord,
): { readonly field: string; readonly message: string } | undefined {
  const { error } = recordSchema.safeParse(record, parsing)
  const issue = error?.issues[0]
  return issue && { field: String(issue.path[0]), message: issue.message }
}

/** Throws a SyntaxError that says what to correct. */
export function parseTokenFile(text: string): TokenRecord[] {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw new SyntaxError('it is not JSON')
  }
  const parsed = fileSchema.safeParse(document, parsing)
  if (!parsed.success) throw new SyntaxError(describeIssues(parsed.error))
  const { tokens } = parsed.data
  for (const field of ['name', 'sha256'] as const)
    if (new Set(tokens.map((entry) => entry[field])).size < tokens.length)
      throw new SyntaxError(`two tokens have the same ${field}`)
  return tokens
}

export function formatTokenFile(tokens: readonly TokenRecord[]): string {
  return `${JSON.stringify({ tokens }, undefined, 2)}\n`
}

export function toApiToken({ sha256, allow = [], ...rest }: TokenRecord): ApiToken {
  return { ...rest, allow, hash: Buffer.from(sha256, 'hex') }
}

/** Throws a SyntaxError that says what to correct, or the system's error for a file that cannot be read. */
export function readTokenFile(path: string): TokenRecord[] {
  const descriptor = openSync(path, 'r')
  try {
    const facts = fstatSync(descriptor)
    if (!facts.isFile()) throw new SyntaxError('it is not a regular file')
    const exposure = exposureOf(facts)
    if (exposure !== undefined) throw new SyntaxError(`it ${exposure.reason}. ${exposure.remedy}`)
    if (facts.size > fileBytesMax) throw new SyntaxError(`it has more than ${fileBytesMax} bytes`)
    return parseTokenFile(readFileSync(descriptor, 'utf8'))
  } finally {
    closeSync(descriptor)
  }
}

export interface ApiTokensParts {
  readonly clock: Clock
  readonly warn: (message: string) => void
}

/** The tokens that are valid now. */
export class ApiTokens implements Disposable {
  /** Called with tokens that are no longer valid. */
  onRevoked: (tokens: readonly ApiToken[]) => void = () => undefined
  readonly #parts: ApiTokensParts
  readonly #path: string | undefined
  readonly #stop: () => void
  /** The tokens of the last readable file: their work continues. */
  #known: readonly ApiToken[]
  #isReadable = true
  #seen = ''
  /** The last warning about an unreadable file. */
  #warned = ''

  /** Takes the tokens of a file, or a given list. Throws as `readTokenFile` does. */
  constructor(
    source: { readonly path: string } | { readonly tokens: readonly ApiToken[] },
    parts: ApiTokensParts,
  ) {
    this.#parts = parts
    this.#path = 'path' in source ? source.path : undefined
    if ('path' in source) {
      this.#seen = describeFile(source.path)
      this.#known = readTokenFile(source.path).map(toApiToken)
    } else this.#known = source.tokens
    this.#stop = this.#path === undefined ? () => undefined : parts.clock.every(lookMs, () => this.look())
  }

  /** The entry that belongs to an `Authorization` header. */
  find(header: string | undefined): ApiToken | undefined {
    return findEntry(this.#isReadable ? this.#known : [], header)
  }

  /** Whether it is in the last readable file; each reading creates new objects. */
  has(token: ApiToken): boolean {
    return this.#known.some((one) => isSame(one, token))
  }

  /** Reads the file again if it has changed, or could not be read. */
  look(): void {
    if (this.#path === undefined) return
    try {
      const seen = describeFile(this.#path)
      if (seen === this.#seen && this.#isReadable) return
      this.#take(readTokenFile(this.#path).map(toApiToken))
      this.#seen = seen
      this.#isReadable = true
      this.#warned = ''
    } catch (error) {
      this.#isReadable = false
      const { message } = error as Error
      if (message === this.#warned) return
      this.#warned = message
      this.#parts.warn(`nobody is admitted until the file of tokens can be read: ${message}`)
    }
  }

  #take(tokens: readonly ApiToken[]): void {
    const revoked = this.#known.filter((one) => !tokens.some((token) => isSame(one, token)))
    this.#known = tokens
    if (revoked.length > 0) this.onRevoked(revoked)
  }

  [Symbol.dispose](): void {
    this.#stop()
  }
}

function isSame(one: ApiToken, other: ApiToken): boolean {
  return one.name === other.name && one.hash.equals(other.hash)
}

/** A text that changes when the file does. */
function describeFile(path: string): string {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
  return facts === undefined
    ? 'missing'
    : `${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs} ${facts.mode}`
}
