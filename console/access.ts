/** The token. It arrives in the fragment of the URL, which browsers do not send, and is kept only for this tab. */
import { connectLazaret } from '../src/adapters/client/index.ts'
import type { RemoteLazaret } from '../src/adapters/client/index.ts'

const place = 'lazaret-token'

export interface Access {
  readonly token: string
  readonly lazaret: RemoteLazaret
}

/** Removes the token from the URL, so that it is in no history and no bookmark. */
export function findToken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given !== null && given !== '') {
    sessionStorage.setItem(place, given)
    history.replaceState(null, '', location.pathname)
  }
  return sessionStorage.getItem(place) ?? undefined
}

export function keepToken(token: string): void {
  sessionStorage.setItem(place, token)
}

export function forgetToken(): void {
  sessionStorage.removeItem(place)
}

export function openAccess(token: string): Access {
  return { token, lazaret: connectLazaret({ url: location.origin, token }) }
}

/** For routes that the client has no method for. */
export async function getJson<T>(path: string, { token }: Access): Promise<T> {
  const response = await fetch(path, { headers: { authorization: `Bearer ${token}` }, cache: 'no-store' })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return (await response.json()) as T
}
