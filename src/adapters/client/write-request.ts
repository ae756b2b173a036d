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
    ...(stdin !== undefined && { stdin: writeBytes(stdin) }),
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

export function writeBytes(bytes: string | Uint8Array): string | { readonly base64: string } {
  return typeof bytes === 'string' ? bytes : { base64: toBase64(bytes) }
}

export function writeFiles(files: Files): Readonly<Record<string, ReturnType<typeof writeBytes>>> {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [path, writeBytes(content)]))
}
