/**
 * All bounds of the HTTP server: their names, their defaults, and what an operator may set with `--bound`.
 */

export interface HttpBounds {
  readonly bodyBytesMax: number
  /** All headers of one request together. */
  readonly headerBytesMax: number
  /** The time in which they must arrive. */
  readonly headersMs: number
  /** The time in which a body that is read whole must arrive. */
  readonly bodyMs: number
  /** Between two requests of one connection. */
  readonly idleMs: number
  readonly connectionsMax: number
  /** Connections from one address. */
  readonly connectionsPerAddressMax: number
  /** Runs, commands and uploads of one token at one time, unless its entry says `running`. */
  readonly runningPerTokenMax: number
  readonly sandboxesPerTokenMax: number
  /** Requests of one token that are being answered, whatever they ask for. */
  readonly requestsPerTokenMax: number
}

/** The longest delay of a timer, and about the size of the largest buffer. */
export const boundMost = 2 ** 31 - 1

const MiB = 1024 * 1024

export const usualBounds: HttpBounds = {
  bodyBytesMax: 32 * MiB,
  headerBytesMax: 16 * 1024,
  headersMs: 10_000,
  bodyMs: 30_000,
  idleMs: 60_000,
  connectionsMax: 1024,
  connectionsPerAddressMax: 512,
  runningPerTokenMax: 64,
  sandboxesPerTokenMax: 16,
  requestsPerTokenMax: 256,
}
