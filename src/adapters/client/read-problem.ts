/** A refusal of the server becomes the error that a local Lazaret would throw. */
import { errorTable, LazaretError } from '../../core/errors/errors.ts'
import type { ErrorCode } from '../../core/errors/errors.ts'
import type { Finding } from '../../core/validation.ts'

interface Problem {
  readonly code: string
  readonly detail: string
  readonly hint: string
  readonly retryable?: boolean
  readonly retryAfterMs?: number
  readonly findings?: readonly Finding[]
}

/** The error of an unsuccessful reply. */
export async function readProblem(response: Response): Promise<LazaretError> {
  const text = await response.text().catch(() => '')
  const after = Number(response.headers.get('retry-after'))
  const retryAfterMs = Number.isFinite(after) && after > 0 ? after * 1000 : undefined
  return toError(parse(text), { retryAfterMs, status: response.status })
}

/** `document` comes from the server, or from a proxy on the way. */
export function toError(
  document: unknown,
  { retryAfterMs, status }: { readonly retryAfterMs?: number | undefined; readonly status?: number } = {},
): LazaretError {
  const problem = (typeof document === 'object' && document !== null ? document : {}) as Partial<Problem>
  const { code, detail, hint, retryable, findings } = problem
  if (code === undefined || !isCode(code))
    return new LazaretError('CONNECTION_LOST', {
      detail: `The answer does not come from a Lazaret server${status === undefined ? '' : `, status ${status}`}.`,
    })
  // Every reply with status 429 or 503 has a `Retry-After`, even if waiting does not help.
  const after = problem.retryAfterMs ?? (retryable === false ? undefined : retryAfterMs)
  return new LazaretError(code, {
    ...(detail !== undefined && { message: detail }),
    ...(hint !== undefined && { hint }),
    ...(typeof retryable === 'boolean' && { retryable }),
    ...(after !== undefined && { retryAfterMs: after }),
    ...(findings !== undefined && { findings }),
  })
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
