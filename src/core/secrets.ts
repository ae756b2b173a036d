/** Secrets that a guest can use without having them: it gets a placeholder, and the host puts the value in on the way out. */

export const secretPlaces = ['header', 'query', 'json'] as const
/** Where in a request the value may be put. `json` is a body of that type. */
export type SecretPlace = (typeof secretPlaces)[number]

export interface EdgeSecret {
  /** Printable ASCII, 8 to 4096 characters. */
  readonly value: string
  /**
   * Which hosts get it: `api.example.com`, `*.example.org`, `localhost:8443`, by TLS. Without a port: 443. Only
   * `http://localhost:8080` sends it unencrypted. The network policy has to allow each of them.
   */
  readonly hosts: readonly string[]
  /** Default `['header']`. */
  readonly in?: readonly SecretPlace[] | undefined
}

/** By the name of the variable in which guests find the placeholder. */
export type EdgeSecrets = Readonly<Record<string, EdgeSecret>>
