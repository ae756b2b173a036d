/** The entries of a tar from outside, each checked against all earlier ones. */
import type { ParsedTarEntry, TarHeader } from 'modern-tar'

import { LazaretError } from '../../../core/errors/errors.ts'
import { takeRests } from '../../../runtimes/channel/loop-turns.ts'
import { describePath } from '../../../core/shown-path.ts'
import { guardTar } from './tar-guard.ts'
import type { TarBounds } from './tar-guard.ts'
import { TarPaths, parseLinkTarget, parseTarPath } from './tar-names.ts'
import type { NameCheck } from './tar-names.ts'

export interface TarEntry {
  readonly type: 'file' | 'folder' | 'link' | 'hard-link'
  readonly path: string
  /** The target of a symlink as written, or for a hard link the path of an earlier file. */
  readonly target: string
  readonly bytes: number
  readonly mode: number
  readonly modifiedMs: number
  /** Must be read to its end. */
  readonly body: AsyncIterable<Uint8Array>
}

export async function* readTarEntries(
  source: AsyncIterable<Uint8Array>,
  bounds: TarBounds,
): AsyncGenerator<TarEntry> {
  const { createTarDecoder } = await import('modern-tar')
  const decoder = createTarDecoder({ strict: true })
  const feed = new Feed(guardTar(source, bounds), decoder.writable.getWriter())
  const entries = decoder.readable.getReader()
  const paths = new TarPaths()
  const rest = takeRests()
  let count = 0
  try {
    for (let next = await entries.read(); !next.done; next = await entries.read()) {
      await rest()
      if (++count > bounds.entriesMax)
        throw new LazaretError('ARCHIVE_REFUSED', {
          detail: `There are more than ${bounds.entriesMax} entries.`,
        })
      const entry = checkEntry(next.value, paths)
      if (entry !== undefined) yield { ...entry, body: feed.explainErrors(next.value.body) }
    }
  } catch (error) {
    throw feed.explain(error)
  } finally {
    // A pending write to the decoder is released; a stalled source is not awaited.
    await entries.cancel(new Error('No more entries are wanted.')).catch(() => undefined)
  }
}

/** Feeds the source to the decoder, and distinguishes their errors. */
class Feed {
  #failure: { readonly error: unknown } | undefined

  constructor(source: AsyncGenerator<Uint8Array>, writer: WritableStreamDefaultWriter<Uint8Array>) {
    writer.closed.catch(() => undefined)
    void this.#pump(source, writer)
  }

  async #pump(
    source: AsyncGenerator<Uint8Array>,
    writer: WritableStreamDefaultWriter<Uint8Array>,
  ): Promise<void> {
    const read = async (): Promise<IteratorResult<Uint8Array, unknown>> => {
      try {
        return await source.next()
      } catch (error) {
        this.#failure = { error }
        throw error
      }
    }
    try {
      for (let next = await read(); next.done !== true; next = await read()) await writer.write(next.value)
      await writer.close()
    } catch (error) {
      await writer.abort(error).catch(() => undefined)
      await source.return(undefined).catch(() => undefined)
    }
  }

  /** The library's own errors are about the archive. */
  explain(error: unknown): unknown {
    if (this.#failure !== undefined) return this.#failure.error
    if (error instanceof LazaretError || !(error instanceof Error)) return error
    return new LazaretError('ARCHIVE_REFUSED', { detail: error.message, cause: error })
  }

  async *explainErrors(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body as AsyncIterable<Uint8Array>
    } catch (error) {
      throw this.explain(error)
    }
  }
}

/** Undefined for an entry that is the folder itself. Throws ARCHIVE_REFUSED. */
function checkEntry({ header }: ParsedTarEntry, paths: TarPaths): Omit<TarEntry, 'body'> | undefined {
  const path = accept(parseTarPath(header.name), header)
  const attribute = Object.keys(header.pax ?? {}).find(
    (key) => key === 'size' || key.startsWith('GNU.sparse'),
  )
  if (attribute !== undefined) throw refuse(header, `it has the attribute ${describePath(attribute)}`)
  if (path === '') return skipRoot(header)
  const common = { bytes: header.size, mode: header.mode ?? 0o644, modifiedMs: readTime(header) }
  switch (header.type) {
    case 'file':
      return { ...common, type: 'file', target: '', path: add(path, 'file', { header, paths }) }
    case 'directory':
      return { ...common, type: 'folder', target: '', path: add(path, 'folder', { header, paths }) }
    case 'symlink': {
      const target = accept(parseLinkTarget(header.linkname ?? '', path), header)
      return { ...common, type: 'link', target, path: add(path, 'link', { header, paths }) }
    }
    case 'link': {
      const target = accept(parseTarPath(header.linkname ?? ''), header)
      if (!paths.hasFile(target))
        throw refuse(header, 'it is a hard link, and no file before it has the name of its target')
      return { ...common, type: 'hard-link', target, path: add(path, 'file', { header, paths }) }
    }
    default:
      throw refuse(header, `it is a ${header.type}`)
  }
}

function skipRoot(header: TarHeader): undefined {
  if (header.type !== 'directory') throw refuse(header, 'its name is that of the folder itself')
  return undefined
}

function add(
  path: string,
  kind: 'file' | 'folder' | 'link',
  { header, paths }: { readonly header: TarHeader; readonly paths: TarPaths },
): string {
  const refused = paths.add(path, kind)
  if (refused !== undefined) throw refuse(header, refused)
  return path
}

/** Times before 1970 become 1970. */
function readTime({ mtime }: TarHeader): number {
  const time = mtime?.getTime() ?? 0
  return Number.isFinite(time) ? Math.max(0, time) : 0
}

function accept<T>(check: NameCheck<T>, header: TarHeader): T {
  if ('is' in check) return check.is
  throw refuse(header, check.refused)
}

function refuse({ name }: TarHeader, why: string): LazaretError {
  return new LazaretError('ARCHIVE_REFUSED', { detail: `The entry ${describePath(name)}: ${why}.` })
}
