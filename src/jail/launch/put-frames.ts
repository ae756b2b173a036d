/** A file that the host puts into a cell, as the payloads of its frames. */
import { PayloadWriter } from './frames.ts'

const chunkBytes = 256 * 1024
const creates = 1

/** The first one creates the file; each of the others adds to it. */
export function* putPayloads(path: string, content: Uint8Array, mode: number): Generator<Buffer> {
  for (let at = 0; at === 0 || at < content.length; at += chunkBytes) {
    const chunk = content.subarray(at, at + chunkBytes)
    yield new PayloadWriter()
      .u32(at === 0 ? creates : 0)
      .u32(mode)
      .string(path)
      .bytes(chunk)
      .finish()
  }
}
