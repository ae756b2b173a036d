/** The request as the harness gets it: what of it the guest may know, in the encoding that crosses the wall. */
import type { Limits } from '../core/limits.ts'
import { LazaretError } from '../core/errors.ts'
import type { RunRequest } from '../core/request.ts'
import { encodeValue } from '../core/values.ts'
import type { JsonTagged } from '../core/values.ts'
import type { GuestRequest } from './channel-protocol.ts'

/** What the harness is told. The input crosses in the tagged encoding. */
export function writeGuestRequest(
  language: GuestRequest['language'],
  request: RunRequest,
  limits: Limits,
): GuestRequest {
  const input = request.input === undefined ? {} : { input: encodeInput(request, limits) }
  const names = Object.keys(request.functions ?? {})
  return {
    language,
    code: request.code,
    ...(request.realm === 'bare' ? { realm: request.realm } : {}),
    ...input,
    args: request.args ?? [],
    resultBytes: limits.resultBytes,
    ...(names.length === 0 ? {} : { functions: { names, callsMax: limits.functionCallsMax } }),
  }
}

/** The input in the tagged encoding. Throws INPUT_TOO_LARGE; a guest never gets half of its input. */
export function encodeInput(request: RunRequest, limits: Limits): JsonTagged {
  const maxBytes = inputBytesLeft(request, limits)
  const { value, truncated } = encodeValue(request.input, { maxBytes })
  if (!truncated) return value
  throw new LazaretError('INPUT_TOO_LARGE', {
    detail: `input: it takes more than the ${maxBytes} bytes that inputBytes leaves for it, or is nested too deeply.`,
  })
}

/** Throws INPUT_TOO_LARGE when bytes that cross as they are do not fit. */
export function requireInputFits(bytes: Uint8Array, request: RunRequest, limits: Limits): void {
  const maxBytes = inputBytesLeft(request, limits)
  if (bytes.length <= maxBytes) return
  throw new LazaretError('INPUT_TOO_LARGE', {
    detail: `input: ${bytes.length} bytes; inputBytes leaves ${maxBytes} for it.`,
  })
}

/** `input`, `stdin` and `files` share one limit; stdin and files have been checked by now. */
function inputBytesLeft({ stdin, files = {} }: RunRequest, { inputBytes }: Limits): number {
  return [stdin ?? '', ...Object.values(files)].reduce(
    (left, content) => left - Buffer.byteLength(content),
    inputBytes,
  )
}
