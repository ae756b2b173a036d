/** Runs in a parser thread: takes one program at a time, and returns rows for each. */
import { parentPort } from 'node:worker_threads'

import { analyzeJavaScript } from './analyze-javascript.ts'
import type { JavaScriptSource } from './analyze-javascript.ts'

// The first call of each function is the slowest, so it is made before the first program arrives.
analyzeJavaScript({
  code: 'export const a = [`${1}`].map((b) => b.c)',
  language: 'typescript',
  findingsMax: 1,
})
parentPort?.on('message', (source: JavaScriptSource) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a port, not a window.
  parentPort?.postMessage(analyzeJavaScript(source))
})
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a port, not a window.
parentPort?.postMessage('ready')
