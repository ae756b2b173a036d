/** What a caller sees of a run, as fields that are compared one by one. */
import { isDeepStrictEqual } from 'node:util'

import type { RunData } from '../../src/core/result.ts'
import type { Way } from './program.ts'

export const fields = [
  'outcome',
  'exitCode',
  'error.name',
  'error.message',
  'error.line',
  'error.column',
  'error.stack',
  'value',
  'valueText',
  'stdout',
  'stderr',
  'logs',
  'displays',
  'files',
  'truncated',
  'refused',
  'answer',
] as const
export type Field = (typeof fields)[number]

/** A way that cannot tell a field leaves it out. */
export type Seen = Readonly<Partial<Record<Field, unknown>>>

export interface Unequal {
  readonly field: Field
  readonly expected: unknown
  readonly got: unknown
}

export function seenIn({ outcome, ...result }: RunData): Seen {
  const { kind } = outcome
  const error = 'error' in outcome ? outcome.error : undefined
  return {
    outcome: kind === 'killed' ? `killed by ${outcome.signal}` : kind,
    exitCode: 'exitCode' in outcome ? outcome.exitCode : null,
    'error.name': error?.name,
    'error.message': error?.message,
    'error.line': error?.line,
    'error.column': error?.column,
    'error.stack': error?.stack,
    value: result.valueTagged,
    valueText: result.valueText,
    stdout: result.stdout,
    stderr: result.stderr,
    logs: result.logs.map(({ level, text }) => [level, text]),
    displays: result.displays,
    files: Object.fromEntries(
      Object.entries(result.files).map(([path, bytes]) => [path, Buffer.from(bytes).toString('latin1')]),
    ),
    truncated: result.truncated,
    refused: undefined,
  }
}

/** What a way should show, after a cold start that showed this. */
export function expectedOf(cold: Seen, way: Way): Seen {
  const { outcome, exitCode, stdout, stderr, files, answer } = cold
  if (way === 'mcp') return { answer }
  if (way !== 'plain') return cold
  return { exitCode, stdout, stderr, files, ...(String(outcome).startsWith('killed') && { outcome }) }
}

/** The fields that both have and that are not the same. */
export function compare(expected: Seen, got: Seen): Unequal[] {
  return fields
    .filter((field) => field in expected && field in got && !isDeepStrictEqual(expected[field], got[field]))
    .map((field) => ({ field, expected: expected[field], got: got[field] }))
}
