/** The code of a thread that searches for one pattern. The host can end it at any time. */
import { parentPort, workerData } from 'node:worker_threads'

const { source, flags } = workerData as { readonly source: string; readonly flags: string }
const pattern = new RegExp(source, flags)

parentPort?.on('message', (text: string) => {
  const lines = text.split('\n')
  // It has not begun.
  if (lines.at(-1) === '') lines.pop()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a thread, not a window.
  parentPort?.postMessage(lines.find((line) => line.search(pattern) >= 0))
})
