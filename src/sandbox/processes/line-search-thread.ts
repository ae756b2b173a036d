/** The code of a thread that searches for patterns. The host can end it at any time. */
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

import type { SearchJob } from './search-threads.ts'

/** Linux gives each thread its own priority. Others go first. */
setPriority(10)

parentPort?.on('message', ({ source, flags, bytes, lineBytesMax }: SearchJob) => {
  const pattern = new RegExp(source, flags)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let found: string | undefined
  for (let start = 0; start < text.length && found === undefined;) {
    const next = text.indexOf(10, start)
    const end = next < 0 ? text.length : next
    const line = text.toString('utf8', Math.max(start, end - lineBytesMax), end)
    if (line.search(pattern) >= 0) found = line
    start = end + 1
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a thread, not a window.
  parentPort?.postMessage(found)
})
