/** A caller's request as the server's JSON: bytes in base64, an input with its tags. */
import { toBase64 } from '../../core/values/base64.ts'
import { encodeValueToJson } from '../../core/values/encode-value.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { RunRequest } from '../../core/request.ts'

/** The most that any server takes; its own bound is lower. */
const inputBytesMax = 256 * 1024 * 1024

type Files = Readonly<Record<string, string | Uint8Array>>

/** Throws INPUT_TOO_LARGE. */
export function writeRun({
  input,
  files,
  stdin,
  functions,
  signal,
  onOutput: _onOutput,
  onLog: _onLog,
  onDisplay: _onDisplay,
  onClear: _onClear,
  ...rest
}: RunRequest): string {
  const plain = JSON.stringify({
    ...rest,
    ...(files !== undefined && { files: writeFiles(files) }),
    ...(stdin !== undefined && { stdin: writeBytes(stdin, 'stdin') }),
    ...(functions !== undefined && { functions: Object.keys(functions) }),
    ...(signal?.aborted === true && { signal: 'aborted' }),
  })
  return input === undefined ? plain : `${plain.slice(0, -1)},"inputTagged":${writeTagged(input, 'input')}}`
}

export function writeTagged(value: unknown, what: string): string {
  const { json, truncated } = encodeValueToJson(value, { maxBytes: inputBytesMax })
  if (truncated)
    throw new LazaretError('INPUT_TOO_LARGE', {
      detail: `${what}: it is too large or too deeply nested to be sent.`,
    })
  return json
}

/** Throws INVALID_REQUEST. */
export function writeBytes(bytes: unknown, field: string): string | { readonly base64: string } {
  return typeof bytes === 'string' ? bytes : { base64: toBase64(requireBytes(bytes, field)) }
}

/** Throws INVALID_REQUEST. */
export function requireObject(value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null)
    throw new LazaretError('INVALID_REQUEST', { detail: `${what}: must be an object.` })
}

/** Throws INVALID_REQUEST. Accepts signals of other realms. */
export function requireSignal(signal: unknown): void {
  if (signal !== undefined && Object.prototype.toString.call(signal) !== '[object AbortSignal]')
    throw new LazaretError('INVALID_REQUEST', { detail: 'signal: must be an AbortSignal.' })
}

/** An ArrayBuffer, a Blob or a stream would silently become an empty file. Bytes of other realms are accepted. */
export function requireBytes(bytes: unknown, field: string): Uint8Array {
  if (isBytes(bytes)) return bytes
  throw new LazaretError('INVALID_REQUEST', { detail: `${field}: must be a string or bytes (a Uint8Array).` })
}

export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]'
}

export function writeFiles(files: Files): Readonly<Record<string, ReturnType<typeof writeBytes>>> {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [
      path,
      writeBytes(content, `files[${JSON.stringify(path.slice(0, 100))}]`),
    ]),
  )
}
