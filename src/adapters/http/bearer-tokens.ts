/** Bearer tokens: who may connect over HTTP, and under which name. */
import { hash as digest, timingSafeEqual } from 'node:crypto'

/** Only hashes are kept, of one length: a comparison takes the same time wherever two tokens differ. */
export interface TokenEntry {
  readonly name: string
  readonly hash: Buffer
}

/** Shorter ones can be guessed. */
export const tokenLengthMin = 16
const tokensMax = 1000

export function createToken(name: string, token: string): TokenEntry {
  return { name, hash: hashOf(token) }
}

/**
 * Parses lines of `name:token`; empty ones and those that begin with `#` are ignored. Throws an error whose message
 * says what to correct, and never contains a token.
 */
export function parseTokens(text: string): TokenEntry[] {
  const entries = text.split('\n').flatMap((line, index) => {
    const content = line.trim()
    if (content === '' || content.startsWith('#')) return []
    const [, name, token] = /^([\w.@-]{1,64}):(\S+)$/.exec(content) ?? []
    if (name === undefined || token === undefined)
      throw new SyntaxError(`line ${index + 1} is not name:token`)
    if (token.length < tokenLengthMin)
      throw new SyntaxError(`the token in line ${index + 1} has fewer than ${tokenLengthMin} characters`)
    return [createToken(name, token)]
  })
  if (entries.length === 0) throw new SyntaxError('it has no tokens')
  if (entries.length > tokensMax) throw new SyntaxError(`it has more than ${tokensMax} tokens`)
  if (new Set(entries.map(({ hash }) => hash.toString('hex'))).size < entries.length)
    throw new SyntaxError('it contains a token twice')
  return entries
}

/** The name that belongs to an `Authorization` header. */
export function findClient(entries: readonly TokenEntry[], header: string | undefined): string | undefined {
  return findEntry(entries, header)?.name
}

/** All entries are compared, even after a match. */
export function findEntry<Entry extends TokenEntry>(
  entries: readonly Entry[],
  header: string | undefined,
): Entry | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? []
  if (token === undefined) return undefined
  const hash = hashOf(token)
  let found: Entry | undefined
  for (const entry of entries) if (timingSafeEqual(entry.hash, hash)) found = entry
  return found
}

export function hashOf(token: string): Buffer {
  return digest('sha256', token, 'buffer')
}
