/** Loaded before a file of tests that has its own process: says at its end what it has used of the processors. */
import { after } from 'node:test'
import { isMainThread } from 'node:worker_threads'
import { sayProcessorTime, usedHereMs } from './processor-time.ts'

const [, file = ''] = process.argv
// Workers and forks of the file inherit the option that loads this.
if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined && file.endsWith('.test.ts'))
  after(() => sayProcessorTime(file, usedHereMs()))
