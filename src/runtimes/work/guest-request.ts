/** Creates the request for the harness: the parts that the guest may know, in the encoding of the channel. */
import type { Limits } from '../../core/limits.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { RunSpec } from '../../core/request.ts'
import { encodeValue } from '../../core/values/values.ts'
import type { JsonTagged } from '../../core/values/values.ts'
import type { GuestRequest } from '../channel/channel-protocol.ts'

/** The longest form of a UTF-16 unit in JSON: `\u0000`. */
const bytesPerUnitMax = 6

/** The request for the harness. The input is in the tagged encoding. */
export function writeGuestRequest(
  language: GuestRequest['language'],
  spec: RunSpec,
  limits: Limits,
): GuestRequest {
  const input = spec.input === undefined ? {} : { input: encodeInput(spec, limits) }
  const names = spec.functionNames ?? []
  return {
    language,
    code: spec.code,
    ...(spec.realm === 'bare' ? { realm: spec.realm } : {}),
    ...input,
    args: spec.args ?? [],
    resultBytes: limits.resultBytes,
    ...(names.length === 0 ? {} : { functions: { names, callsMax: limits.functionCallsMax } }),
  }
}

/** The input in the tagged encoding. Throws INPUT_TOO_LARGE: a guest never gets a truncated input. */
export function encodeInput(spec: RunSpec, limits: Limits): JsonTagged {
  const maxBytes = inputBytesLeft(spec, limits)
  const { input } = spec
  // A string is its own encoding. One that may be too long must be measured.
  if (typeof input === 'string' && input.length * bytesPerUnitMax + 2 <= maxBytes) return input
  const { value, truncated } = encodeValue(input, { maxBytes })
  if (!truncated) return value
  throw new LazaretError('INPUT_TOO_LARGE', {
    detail: `input: it takes more than the ${maxBytes} bytes that inputBytes leaves for it, or is nested too deeply.`,
  })
}

/** Throws INPUT_TOO_LARGE if input that is passed unencoded does not fit. */
export function requireInputFits(bytes: Uint8Array, spec: RunSpec, limits: Limits): void {
  const maxBytes = inputBytesLeft(spec, limits)
  if (bytes.length <= maxBytes) return
  throw new LazaretError('INPUT_TOO_LARGE', {
    detail: `input: ${bytes.length} bytes; inputBytes leaves ${maxBytes} for it.`,
  })
}

/** `input`, `stdin` and `files` share one limit. The sizes of stdin and files have already been checked. */
function inputBytesLeft({ stdin, files = {} }: RunSpec, { inputBytes }: Limits): number {
  return [stdin ?? '', ...Object.values(files)].reduce(
    (left, content) => left - Buffer.byteLength(content),
    inputBytes,
  )
}
