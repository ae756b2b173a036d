/**
 * Checks the headers of a tar before the library that reads it does. The library treats every unknown type as a regular
 * file, and accepts malformed numbers; both are refused here. Sizes beyond 8 GiB, which need another encoding, are
 * refused too, so that both agree on where each header begins.
 */
import { LazaretError } from '../../../core/errors/errors.ts'

export interface TarBounds {
  readonly entriesMax: number
  /** The bytes of the archive, headers included. */
  readonly bytesMax: number
}

const blockBytes = 512
const zeroBlock = Buffer.alloc(blockBytes)
const typeAt = 156
const sizeAt = 124
const sizeEnd = 136

/** Accepted types of POSIX and GNU, and those whose size must be zero. */
const withContent: Readonly<Record<string, string>> = {
  '0': 'file',
  '\0': 'file',
  x: 'extended header',
  g: 'global extended header',
  L: 'long name',
  K: 'long link name',
}
const withoutContent: Readonly<Record<string, string>> = { '1': 'hard link', '2': 'link', '5': 'folder' }
/** Names of other types, for error messages. */
const refused: Readonly<Record<string, string>> = {
  '3': 'a character device',
  '4': 'a block device',
  '6': 'a pipe',
  '7': 'a contiguous file',
  S: 'a sparse file',
  M: 'a part of a file',
  V: 'a volume label',
  D: 'a GNU folder',
}

export async function* guardTar(
  source: AsyncIterable<Uint8Array>,
  bounds: TarBounds,
): AsyncGenerator<Uint8Array> {
  const guard = new TarGuard(bounds)
  for await (const chunk of source) {
    guard.push(chunk)
    yield chunk
  }
  guard.end()
}

class TarGuard {
  readonly #bounds: TarBounds
  readonly #header = Buffer.alloc(blockBytes)
  #headerBytes = 0
  /** The bytes of content and padding until the next header. */
  #skip = 0
  #bytes = 0
  #headers = 0

  constructor(bounds: TarBounds) {
    this.#bounds = bounds
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bounds.bytesMax) throw refuse(`it is longer than ${this.#bounds.bytesMax} bytes.`)
    for (let at = 0; at < chunk.length;) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at)
        this.#skip -= skipped
        at += skipped
      } else {
        const taken = chunk.subarray(at, at + blockBytes - this.#headerBytes)
        this.#header.set(taken, this.#headerBytes)
        this.#headerBytes += taken.length
        at += taken.length
        if (this.#headerBytes === blockBytes) this.#takeHeader()
      }
    }
  }

  end(): void {
    if (this.#skip > 0 || this.#headerBytes > 0) throw refuse('it is truncated.')
  }

  #takeHeader(): void {
    this.#headerBytes = 0
    // The end of the archive. The library checks that nothing follows.
    if (this.#header.equals(zeroBlock)) return
    // Each entry may have a long name, a long target and an extended header.
    if (++this.#headers > this.#bounds.entriesMax * 4) throw refuse('it has too many headers.')
    const type = String.fromCharCode(this.#header[typeAt] ?? 0)
    const isBare = Object.hasOwn(withoutContent, type)
    if (!isBare && !Object.hasOwn(withContent, type)) {
      throw refuse(`it holds ${refused[type] ?? `an entry of the unknown type ${type.charCodeAt(0)}`}.`)
    }
    const size = readSize(this.#header.toString('latin1', sizeAt, sizeEnd))
    if (isBare && size > 0) throw refuse(`it holds a ${withoutContent[type]} of ${size} bytes.`)
    this.#skip = Math.ceil(size / blockBytes) * blockBytes
  }
}

function readSize(field: string): number {
  if (!/^[ 0]*[0-7]*[ \0]*$/.test(field)) throw refuse('it has a size that is not an octal number.')
  return Number.parseInt(field.replaceAll('\0', ' ').trim() || '0', 8)
}

function refuse(why: string): LazaretError {
  return new LazaretError('ARCHIVE_REFUSED', { detail: `The tar is refused: ${why}` })
}
