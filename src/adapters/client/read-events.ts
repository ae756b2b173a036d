/** Server-sent events as they arrive. They are read only on demand, so a slow reader slows its guest down. */

import { connectionLost } from './connection.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: unknown
}

const blockEnd = '\n\n'

/** Leaving the loop ends the connection. */
export async function* readEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<ServerEvent> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let pieces: string[] = []
  let isAtLineEnd = false
  try {
    for (;;) {
      const { done, value } = await read(reader)
      if (done) return
      const piece = decoder.decode(value, { stream: true })
      const mayEnd = piece.includes(blockEnd) || (isAtLineEnd && piece.startsWith('\n'))
      pieces.push(piece)
      isAtLineEnd = piece.endsWith('\n')
      // An event may have millions of characters, so its pieces are joined only once, at its end.
      if (!mayEnd) continue
      const blocks = pieces.join('').split(blockEnd)
      const rest = blocks.pop() ?? ''
      pieces = [rest]
      isAtLineEnd = rest.endsWith('\n')
      for (const block of blocks) {
        const event = parseBlock(block)
        if (event !== undefined) yield event
      }
    }
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
  try {
    return (await reader?.read()) ?? { done: true }
  } catch (cause) {
    throw connectionLost(cause)
  }
}

/** Undefined for a comment, which only keeps the connection alive. */
function parseBlock(block: string): ServerEvent | undefined {
  const [first = '', second = ''] = block.split('\n')
  if (!first.startsWith('event: ') || !second.startsWith('data: ')) return undefined
  return { event: first.slice('event: '.length), data: JSON.parse(second.slice('data: '.length)) as unknown }
}
