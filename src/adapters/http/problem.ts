/** An error as a problem document of RFC 9457. Status, text and hint come from the table of errors. */
import { errorTable, LazaretError } from '../../core/errors/errors.ts'

export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

export function toProblem(error: LazaretError, requestId: string): Problem {
  const { code, kind, message, hint, retryable, retryAfterMs, findings } = error.toJSON()
  const { httpStatus: status, message: title } = errorTable[code]
  // Sent even if the time is unknown, because a client that retries at once makes things worse.
  const waits = status === 429 || status === 503
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(waits && { 'retry-after': String(Math.max(1, Math.ceil((retryAfterMs ?? 1000) / 1000))) }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    },
    body: {
      type: `urn:lazaret:error:${code.toLowerCase().replaceAll('_', '-')}`,
      title,
      status,
      detail: message,
      code,
      kind,
      hint,
      retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(findings !== undefined && { findings }),
      requestId,
    },
  }
}

/** Any other error is a defect: the operator gets its details, and the client only learns that it happened. */
export function toLazaretError(thrown: unknown, warn: (message: string) => void): LazaretError {
  if (thrown instanceof LazaretError) return thrown
  warn(`a request failed: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`)
  return new LazaretError('INTERNAL', { hint: 'The log of the server has more.' })
}
