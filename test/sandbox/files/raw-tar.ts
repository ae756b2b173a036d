/** Tars as an attacker writes them: a test chooses each field of a header. */
export interface RawEntry {
  readonly name: string | Buffer
  readonly type?: string
  readonly content?: string | Buffer
  /** The size in the header, instead of the content's length. */
  readonly size?: number | string
  readonly link?: string
  readonly mode?: number
  readonly prefix?: string
  readonly checksum?: number
  readonly magic?: string
}

const block = 512

export function rawEntry(entry: RawEntry): Buffer {
  const content = Buffer.from(entry.content ?? '')
  const header = Buffer.alloc(block)
  const octal = (value: number | string, length: number) =>
    typeof value === 'string' ? value : `${value.toString(8).padStart(length - 1, '0')}\0`
  Buffer.from(entry.name).copy(header, 0, 0, 100)
  header.write(octal(entry.mode ?? 0o644, 8), 100, 'latin1')
  header.write(octal(0, 8), 108, 'latin1')
  header.write(octal(0, 8), 116, 'latin1')
  header.write(octal(entry.size ?? content.length, 12), 124, 12, 'latin1')
  header.write(octal(1_700_000_000, 12), 136, 'latin1')
  header.write(entry.type ?? '0', 156, 'latin1')
  header.write(entry.link ?? '', 157, 100)
  header.write(entry.magic ?? 'ustar\x0000', 257, 'latin1')
  header.write(entry.prefix ?? '', 345, 155)
  header.fill(' ', 148, 156)
  const sum = entry.checksum ?? header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return Buffer.concat([header, content, Buffer.alloc(-content.length & (block - 1))])
}

export const tarEnd = Buffer.alloc(2 * block)

export function rawTar(...entries: readonly RawEntry[]): Buffer {
  return Buffer.concat([...entries.map(rawEntry), tarEnd])
}

/** An extended header for the entry after it. */
export function paxEntry(attributes: Readonly<Record<string, string>>, type = 'x'): RawEntry {
  const records = Object.entries(attributes).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`)
    let length = rest + String(rest).length
    length = rest + String(length).length
    return `${length} ${key}=${value}\n`
  })
  return { name: 'PaxHeader', type, content: records.join('') }
}
