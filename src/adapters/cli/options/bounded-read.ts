/** Reads a file that the user named, up to a bound, so an endless device or pipe cannot fill the memory. */
import { createReadStream } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { LazaretError } from '../../../core/errors/errors.ts'
import { describeSystemError } from '../output/system-error.ts'
import { formatSize } from './units.ts'
import { UsageError } from './usage-error.ts'

export interface ReadBound {
  readonly bytesMax: number
  /** The limit that the bound comes from. */
  readonly limit?: 'codeBytes' | 'inputBytes'
  readonly signal: AbortSignal
}

export async function readFileBounded(path: string, bound: ReadBound): Promise<Buffer> {
  try {
    return await readStream(createReadStream(path), path, bound)
  } catch (error) {
    const reason = describeSystemError(error)
    if (reason === undefined) throw error
    throw new UsageError(
      `cannot read ${path}: ${reason}.`,
      'Check the path; it is looked up from the current folder.',
    )
  }
}

export function readStandardInput(bound: ReadBound): Promise<Buffer> {
  return readStream(process.stdin, 'standard input', bound)
}

async function readStream(source: Readable, name: string, bound: ReadBound): Promise<Buffer> {
  const { bytesMax, limit, signal } = bound
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of addAbortSignal(signal, source) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bytesMax) {
        throw new LazaretError('INPUT_TOO_LARGE', {
          detail: `${name} is longer than ${formatSize(bytesMax)}.`,
          hint:
            limit === undefined
              ? 'Send less.'
              : `Send less, or raise \`defaults.${limit}\` in your configuration.`,
        })
      }
      chunks.push(chunk)
    }
  } catch (error) {
    // The stream wraps the signal's reason in an error of its own.
    signal.throwIfAborted()
    throw error
  }
  return Buffer.concat(chunks)
}
