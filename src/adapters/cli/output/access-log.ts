/** `lazaret serve --access-log`: a line on standard output for each request that was answered. */
import type { AnsweredRequest } from '../../http/serve-api.ts'
import { StandardStream } from '../../../observe/standard-stream.ts'
import { toSingleLine } from './terminal-text.ts'

export const accessLogFormats = ['text', 'json'] as const
export type AccessLogFormat = (typeof accessLogFormats)[number]

const pathLengthMax = 512

export class AccessLog {
  readonly #format: (request: AnsweredRequest) => string
  readonly #stream = StandardStream.of('/dev/stdout')
  /** Lines that were left out because their reader stalls, since the last one that was not. */
  #dropped = 0

  constructor(format: AccessLogFormat) {
    this.#format = format === 'json' ? formatJson : formatText
  }

  readonly add = (request: AnsweredRequest): void => {
    if (this.#stream.isFull) {
      this.#dropped++
      return
    }
    const line = this.#format({ ...request, ...(this.#dropped > 0 && { dropped: this.#dropped }) })
    this.#dropped = 0
    // Without a reader there is nobody to tell.
    this.#stream.write(`${line}\n`).catch(() => undefined)
  }
}

function formatJson({ path, ...rest }: AnsweredRequest): string {
  return JSON.stringify({ ...rest, path: path.slice(0, pathLengthMax) })
}

function formatText(request: AnsweredRequest): string {
  const { time, address, client = '-', method, path, status, ms, bytes, requestId, dropped } = request
  const shown = toSingleLine(path, pathLengthMax)
  const line = `${time} ${address} ${client} ${method} ${shown} ${status} ${ms}ms ${bytes}B ${requestId}`
  return dropped === undefined ? line : `${line} (${dropped} lines before it were dropped)`
}
