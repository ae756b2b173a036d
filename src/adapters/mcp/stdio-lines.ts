/** Lines of standard input, each counted as it arrives. One that finds no room is skipped, and refused at its end. */
import type { Readable } from 'node:stream'
import type { RequestId } from '@modelcontextprotocol/server'
import type { LazaretError } from '../../core/errors/errors.ts'
import type { HostAccount, Reservation } from '../../core/host-account.ts'
import { freeBodyBytes } from '../http/body.ts'

/** Room for a message with the largest code and input. */
export const messageBytesMax = 20 * 1024 * 1024

export interface LineSource {
  readonly input: Readable
  readonly account: HostAccount
  readonly client: string
}

/** Yields whole lines, and inspects each byte only once. Throws for a line that is too long. */
export async function* readLines({ input, account, client }: LineSource): AsyncGenerator<Line> {
  const begin = (): Line => new Line(account.reserve({ client, kind: 'bodies' }))
  let line = begin()
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
        line.add(chunk.subarray(from, end))
        yield line
        line = begin()
        from = end + 1
      }
      line.add(chunk.subarray(from))
    }
  } finally {
    line[Symbol.dispose]()
  }
}

/** Its bytes count until it is disposed. */
export class Line implements Disposable {
  readonly #held: Reservation
  #pieces: Buffer[] = []
  #length = 0
  #head = ''
  #tail = ''
  #refusal: LazaretError | undefined

  constructor(held: Reservation) {
    this.#held = held
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return
    this.#length += piece.length
    if (this.#length > messageBytesMax)
      throw new Error(`a message of more than ${messageBytesMax} bytes; the connection is closed.`)
    if (this.#head === '') this.#head = piece.toString('latin1', 0, idWithinBytes)
    this.#tail = piece.toString('latin1', Math.max(0, piece.length - idWithinBytes))
    if (this.#refusal !== undefined) return
    try {
      this.#held.resize(Math.max(0, this.#length - freeBodyBytes))
      this.#pieces.push(piece)
    } catch (error) {
      this.#refusal = error as LazaretError
      this.#pieces = []
      this.#held.resize(0)
    }
  }

  /** Throws CLIENT_QUEUE_FULL and QUEUE_FULL if there was no room for it. */
  get bytes(): Buffer {
    if (this.#refusal !== undefined) throw this.#refusal
    return Buffer.concat(this.#pieces)
  }

  /** The id of a request that is not parsed: null unless it is where common clients write it. */
  get id(): RequestId | null {
    const [, id] = idAtEnd.exec(this.#tail) ?? idAtStart.exec(this.#head) ?? []
    return id === undefined ? null : (JSON.parse(id) as RequestId)
  }

  [Symbol.dispose](): void {
    this.#pieces = []
    this.#held[Symbol.dispose]()
  }
}

const idWithinBytes = 128
/** In JSON, a comma or brace before an unescaped quote is not part of a text, so this is a member of the message itself. */
const idAtEnd = /[,{]"id":(\d{1,15}|"[\w.:-]{1,64}")\}\s*$/
const idAtStart = /^\{(?:"jsonrpc":"2\.0",)?"id":(\d{1,15}|"[\w.:-]{1,64}")[,}]/
