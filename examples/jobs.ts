/** Small real jobs, one for each language. */
import { readFile } from 'node:fs/promises'
import type { RunResult } from '../src/index.ts'
import type { Example } from './example.ts'

export async function createJobs(): Promise<Example[]> {
  const read = (name: string): Promise<Buffer> => readFile(new URL(`data/${name}`, import.meta.url))
  return [
    {
      path: 'jobs/sales.py',
      request: { language: 'python', files: { 'sales.csv': await read('sales.csv') }, input: { top: 3 } },
      expected: 'a year of sales in four figures',
      isExpected: (result) => isSuccess(result) && hasField(result, 'best_region', 'West'),
    },
    {
      path: 'jobs/access-log.sh',
      request: { language: 'shell', files: { 'access.log': await read('access.log') } },
      expected: 'a count of requests',
      isExpected: (result) =>
        isSuccess(result) && result.stdout.startsWith('400 requests from 16 addresses\n'),
    },
    {
      path: 'jobs/inventory.ts',
      request: { language: 'typescript' },
      expected: 'what the shelves are worth',
      isExpected: (result) => isSuccess(result) && hasField(result, 'refused', 'only 7 of tent left'),
    },
    {
      path: 'jobs/primes.js',
      request: { language: 'javascript', input: { limit: 1_000_000 } },
      expected: '78498 primes',
      isExpected: (result) => isSuccess(result) && hasField(result, 'count', 78_498),
    },
    {
      path: 'jobs/primes.js',
      request: { language: 'javascript', runtime: 'node', input: { limit: 1_000_000 } },
      expected: '78498 primes, by Node',
      isExpected: (result) => isSuccess(result) && hasField(result, 'count', 78_498),
    },
  ]
}

function isSuccess({ outcome }: RunResult): boolean {
  return outcome.kind === 'completed' && outcome.exitCode === 0
}

function hasField({ value }: RunResult, name: string, expected: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as Record<string, unknown>)[name] === expected
}
