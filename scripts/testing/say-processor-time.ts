/** Loaded before a file of tests that has its own process: says at its end what it has used of the processors. */
import { after } from 'node:test'
import { sayProcessorTime, usedHereMs } from './processor-time.ts'

const [, file = ''] = process.argv
after(() => sayProcessorTime(file, usedHereMs()))
