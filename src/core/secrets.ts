/**
 * Secrets that a guest can use without knowing them: the guest gets a placeholder, and the host replaces it with the
 * value in outgoing requests.
 */

export const secretPlaces = ['header', 'query', 'json'] as const
/** The parts of a request in which the value may replace the placeholder. `json` is a body of that type. */
export type SecretPlace = (typeof secretPlaces)[number]

export interface EdgeSecret {
  /** Printable ASCII, 8 to 4096 characters. */
  readonly value: string
  /**
   * Which hosts get it: `api.example.com`, `*.example.org`, `localhost:8443`, over TLS. Without a port: 443. Only
   * `http://localhost:8080` sends it unencrypted. The network policy has to allow each of them.
   */
  readonly hosts: readonly string[]
  /** Default `['header']`. */
  readonly in?: readonly SecretPlace[] | undefined
}

/** The secrets, by the name of the variable in which guests find the placeholder. */
export type EdgeSecrets = Readonly<Record<string, EdgeSecret>>
