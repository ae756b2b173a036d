/** Decodes the pixels of a PNG with 8 bits per channel and without interlacing, as Agg and Pillow write them. */
import assert from 'node:assert/strict'
import { crc32, inflateSync } from 'node:zlib'

export interface Picture {
  readonly width: number
  readonly height: number
  /** Channels per pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
  readonly channels: number
  /** Row by row, without padding. */
  readonly pixels: Buffer
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 }

export function readPng(file: Buffer): Picture {
  assert.ok(file.subarray(0, 8).equals(signature), 'a PNG begins with its signature')
  const chunks = readChunks(file.subarray(8))
  const header = chunks.find(({ type }) => type === 'IHDR')?.data
  assert.ok(header?.length === 13 && chunks[0]?.type === 'IHDR' && chunks.at(-1)?.type === 'IEND')
  const width = header.readUInt32BE(0)
  const height = header.readUInt32BE(4)
  assert.deepEqual([header[8], header[10], header[11], header[12]], [8, 0, 0, 0], 'a plain 8-bit picture')
  const channels = channelsOf[header[9] ?? 0]
  assert.ok(channels !== undefined, `no colour type that is read here: ${header[9]}`)
  const data = chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data)
  const lines = inflateSync(Buffer.concat(data))
  return { width, height, channels, pixels: removeFilters(lines, { width, height, channels }) }
}

/** The number of pixels of each colour. The key is the text of its channels. */
export function countColours({ channels, pixels }: Picture): Map<string, number> {
  const counts = new Map<string, number>()
  for (let at = 0; at < pixels.length; at += channels) {
    const colour = pixels.subarray(at, at + channels).join(',')
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  return counts
}

function readChunks(bytes: Buffer): readonly { readonly type: string; readonly data: Buffer }[] {
  const chunks = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 8 + bytes.readUInt32BE(at)
    const body = bytes.subarray(at + 4, end)
    assert.equal(bytes.readUInt32BE(end), crc32(body), 'every chunk has its checksum')
    chunks.push({ type: body.toString('latin1', 0, 4), data: body.subarray(4) })
    at = end + 4
  }
  return chunks
}

interface Shape {
  readonly width: number
  readonly height: number
  readonly channels: number
}

/** Each line begins with its filter type: which prediction was subtracted from every byte. */
function removeFilters(lines: Buffer, { width, height, channels }: Shape): Buffer {
  const lineBytes = width * channels
  assert.equal(lines.length, height * (lineBytes + 1))
  const pixels = Buffer.alloc(height * lineBytes)
  for (let row = 0; row < height; row++) {
    const filter = lines[row * (lineBytes + 1)] ?? 0
    for (let column = 0; column < lineBytes; column++) {
      const at = row * lineBytes + column
      const left = column >= channels ? (pixels[at - channels] ?? 0) : 0
      const above = row > 0 ? (pixels[at - lineBytes] ?? 0) : 0
      const corner = column >= channels && row > 0 ? (pixels[at - lineBytes - channels] ?? 0) : 0
      pixels[at] = (lines[at + row + 1] ?? 0) + predict(filter, { left, above, corner })
    }
  }
  return pixels
}

interface Neighbours {
  readonly left: number
  readonly above: number
  readonly corner: number
}

function predict(filter: number, { left, above, corner }: Neighbours): number {
  switch (filter) {
    case 0:
      return 0
    case 1:
      return left
    case 2:
      return above
    case 3:
      return (left + above) >> 1
    case 4: {
      const estimate = left + above - corner
      const distance = (value: number) => Math.abs(estimate - value)
      if (distance(left) <= distance(above) && distance(left) <= distance(corner)) return left
      return distance(above) <= distance(corner) ? above : corner
    }
    default:
      throw new assert.AssertionError({ message: `there is no filter ${filter}` })
  }
}
