/** Loaded before a file of tests that has its own process: prints the file's processor time at its end. */
import { after } from 'node:test'
import { sayProcessorTime, usedHereMs } from './processor-time.ts'

const [, file = ''] = process.argv
after(() => sayProcessorTime(file, usedHereMs()))
