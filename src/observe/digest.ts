/** Hashes of contents that may not be kept. */
import { hash } from 'node:crypto'

import { encodeValueToJson } from '../core/values/encode-value.ts'
import type { RunSpec } from '../core/request.ts'
import type { Digest } from '../core/receipt.ts'
import { canonicalJson } from './canonical-json.ts'

export function sha256(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

export function digest(bytes: string | Uint8Array): Digest {
  return { sha256: sha256(bytes), bytes: Buffer.byteLength(bytes) }
}

/** Hashes of a program's inputs, but not of its variables: a short secret could be guessed from its hash. */
export interface Given {
  readonly code: Digest
  readonly input?: Digest
  readonly stdin?: Digest
  readonly files?: Digest
}

/** An input of more than `inputBytesMax` was refused earlier. */
export function digestGiven({ code, input, stdin, files }: RunSpec, inputBytesMax: number): Given {
  return {
    code: digest(code),
    ...(input === undefined ? {} : { input: digestInput(input, inputBytesMax) }),
    ...(stdin === undefined ? {} : { stdin: digest(stdin) }),
    ...(files === undefined ? {} : { files: digestFiles(files) }),
  }
}

function digestInput(input: unknown, maxBytes: number): Digest {
  return digest(typeof input === 'string' ? input : encodeValueToJson(input, { maxBytes }).json)
}

function digestFiles(files: NonNullable<RunSpec['files']>): Digest {
  const hashes = Object.entries(files).map(([path, content]) => [path, sha256(content)] as const)
  const bytes = Object.values(files).reduce((sum, content) => sum + Buffer.byteLength(content), 0)
  return { sha256: sha256(canonicalJson(Object.fromEntries(hashes))), bytes }
}
