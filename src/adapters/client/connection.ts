/** Requests to one server, with their failures as LazaretErrors. */
import { LazaretError } from '../../core/errors/errors.ts'
import { checkConnectOptions } from './connect-options.ts'
import type { ConnectOptions } from './connect-options.ts'
import { pause } from './platform.ts'
import { readProblem } from './read-problem.ts'

export interface Asked {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** JSON. */
  readonly json?: string
  /** Bytes, or a stream of them. */
  readonly body?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  readonly accept?: string
  /** The id under which the server knows this request. */
  readonly id?: string
  readonly signal?: AbortSignal
}

/** The delay if the server names none. */
const retryMs = 200
/** After a longer delay the caller has to retry. */
const retryMsMax = 5000

export class Connection {
  readonly #base: string
  readonly #token: string
  readonly #fetch: typeof fetch
  readonly #retriesMax: number

  /** Throws INVALID_REQUEST. */
  constructor(options: ConnectOptions) {
    const { url, token, fetch: own, retriesMax } = checkConnectOptions(options)
    this.#base = url
    this.#token = token
    this.#fetch = own ?? ((...request) => fetch(...request))
    this.#retriesMax = retriesMax
  }

  /** For connections that do not use `fetch`, such as WebSockets. */
  get place(): { readonly url: string; readonly token: string } {
    return { url: this.#base, token: this.#token }
  }

  /** Returns a successful reply. Throws the refusal or the fault otherwise. */
  async send(asked: Asked): Promise<Response> {
    const isRead = asked.method === 'GET' || asked.method === 'HEAD'
    for (let left = isRead ? this.#retriesMax : 0; ; left--) {
      try {
        return await this.#sendOnce(asked)
      } catch (error) {
        const { retryable, retryAfterMs = retryMs } = error as LazaretError
        if (left <= 0 || !retryable || retryAfterMs > retryMsMax || asked.signal?.aborted === true)
          throw error
        await pause(retryAfterMs)
      }
    }
  }

  async sendJson<T>(asked: Asked): Promise<T> {
    return readJson<T>(await this.send(asked))
  }

  async #sendOnce({ method, path, json, body, accept, id, signal }: Asked): Promise<Response> {
    const content = json ?? body
    const response = await this.#fetch(`${this.#base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        accept: accept ?? 'application/json',
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(json === undefined && body !== undefined && { 'content-type': 'application/octet-stream' }),
        ...(id !== undefined && { 'x-request-id': id }),
      },
      ...(content !== undefined && { body: content }),
      // Node requires this for a stream, because a stream cannot be sent again.
      ...(content instanceof ReadableStream && { duplex: 'half' }),
      ...(signal !== undefined && { signal }),
      redirect: 'error',
      cache: 'no-store',
      credentials: 'omit',
    }).catch((cause: unknown) => {
      throw connectionLost(cause)
    })
    if (response.ok) return response
    throw await readProblem(response)
  }
}

export async function readJson<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T
  } catch (cause) {
    throw connectionLost(cause)
  }
}

/** Wraps the error that ended the connection, unless it is a LazaretError already. */
export function connectionLost(cause: unknown): LazaretError {
  return cause instanceof LazaretError ? cause : new LazaretError('CONNECTION_LOST', { cause })
}
