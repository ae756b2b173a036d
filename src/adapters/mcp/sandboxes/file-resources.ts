/**
 * Files of sandboxes as resources: their URIs, which contain the sandbox's handle and so are useless to other clients, and
 * how one is read.
 */
import { isUtf8 } from 'node:buffer'
import { posix } from 'node:path'
import type { CallToolResult, ReadResourceResult } from '@modelcontextprotocol/server'
import { LazaretError } from '../../../core/errors/errors.ts'
import { findImage } from '../../../result/images.ts'
import { showPath } from '../../../core/shown-path.ts'
import type { Hold } from '../held-result.ts'
import type { ClientSandboxes } from './client-sandboxes.ts'

/** The path is absolute, so three slashes never follow each other. */
export const fileTemplate = 'lazaret://{sandbox_id}/{+path}'

/** As base64 it still fits into a message of the protocol. */
const resourceBytesMax = 8 * 1024 * 1024
/** As base64, as JSON, and as bytes that are sent: a third longer each. */
const resourceForms = 4
/** Longer texts are sent as base64: escaping eight megabytes for JSON can block the event loop for a fifth of a second. */
const textBytesMax = 1024 * 1024
/** Links in the listing of a folder, each of some 200 bytes. */
const linksMax = 50
/** The first revision of the protocol with resource links. Revisions are dates, which sort as strings. */
const linkRevision = '2025-06-18'
const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

export interface LinkedFile {
  readonly sandbox: string
  /** As a file operation takes it: absolute, or below /workspace. */
  readonly path: string
  readonly bytes: number
}

/**
 * Links for a result; none for a client whose revision does not have them. A path with `..` gets none: a URI drops the
 * part before it, which may be a symbolic link to another folder.
 */
export function linksTo(
  files: readonly LinkedFile[],
  revision: string | undefined,
): CallToolResult['content'] {
  if (revision === undefined || revision < linkRevision) return []
  return files
    .filter(({ path }) => !path.split('/').includes('..'))
    .slice(0, linksMax)
    .map(({ sandbox, path, bytes }) => ({
      type: 'resource_link',
      uri: addressOf(sandbox, path),
      name: showPath(posix.basename(path)),
      size: bytes,
    }))
}

function addressOf(sandbox: string, path: string): string {
  const parts = posix.resolve('/workspace', path).split('/').slice(1)
  return `lazaret://${sandbox}/${parts.map(encodeURIComponent).join('/')}`
}

export interface FileReader {
  readonly sandboxes: ClientSandboxes
  readonly client: string
  readonly hold: Hold
}

/** Throws SANDBOX_GONE, what `hold` throws, and INVALID_REQUEST for an invalid address. */
export async function readFileResource(
  { sandboxes, client, hold }: FileReader,
  address: URL,
): Promise<ReadResourceResult> {
  const sandbox = sandboxes.get(client, address.host)
  // Before it is read.
  hold(resourceBytesMax)
  const bytes = await sandbox.readFile(decodePath(address.pathname), {
    encoding: 'bytes',
    bytesMax: resourceBytesMax,
  })
  hold(bytes.length * resourceForms)
  return { contents: [contentOf(address.href, Buffer.from(bytes))] }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new LazaretError('INVALID_REQUEST', { detail: 'uri: has no path.' })
  }
}

export function contentOf(uri: string, bytes: Buffer): ReadResourceResult['contents'][number] {
  const blob = bytes.toString('base64')
  const image = pictureOf(blob)
  if (image !== undefined) return { uri, mimeType: image.mimeType, blob }
  // Decoding first, to see whether anything was lost, takes the engine a hundred times as long.
  if (!isUtf8(bytes)) return { uri, mimeType: 'application/octet-stream', blob }
  if (bytes.length > textBytesMax) return { uri, mimeType: 'text/plain', blob }
  return { uri, mimeType: 'text/plain', text: bytes.toString('utf8') }
}

/** The guest chose the bytes, so they must begin with the signature of a picture's type. */
export function pictureOf(base64: string) {
  return pictureTypes.map((type) => findImage({ [type]: base64 })).find((found) => found !== undefined)
}
