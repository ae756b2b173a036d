/** Checks that options and requests share. */
import { isAbsolute, normalize } from 'node:path'

import { z } from 'zod'

import { limitRanges, perLimit } from '../core/limits.ts'
import type { LimitName, Limits } from '../core/limits.ts'

type LimitSchema = z.ZodType<Limits[LimitName]>

const rangeSchemas = perLimit((name): LimitSchema => {
  const { usual, least, most } = limitRanges[name]
  const range = z.int().min(least).max(most)
  return usual === null ? range.nullable() : range
})

export const limitsSchema = z
  .strictObject(rangeSchemas as { [Name in LimitName]: z.ZodType<Limits[Name]> })
  .partial()

/** Names of Python modules, as `import` has them. */
export const preloadSchema = z
  .array(
    z
      .string()
      .max(200)
      .regex(/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/, 'is not the name of a module'),
  )
  .max(64)

export const absolutePath = z
  .string()
  .max(4096)
  .refine(
    (path) =>
      isAbsolute(path) &&
      normalize(path) === path &&
      !path.includes('\0') &&
      (path === '/' || !path.endsWith('/')),
    {
      error: 'must be an absolute path without `..`, `//` or a slash at the end',
      abort: true, // what comes next asks the file system, which throws at a NUL
    },
  )

/** Zod speaks of records and of input that is invalid; this says what is wanted, in the words of whoever writes it. */
export const wording: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    case 'too_small':
      return `must ${describeSize(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`
    case 'too_big':
      return `must ${describeSize(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`
    case 'unrecognized_keys':
      return `unknown key ${issue.keys.map((key) => JSON.stringify(key.slice(0, 100))).join(', ')}`
    default:
      return undefined
  }
}

function describeSize(origin: string, comparison: string, bound: number | bigint): string {
  const unit = units[origin]
  return unit === undefined ? `be ${comparison} ${bound}` : `have ${comparison} ${bound} ${unit}`
}

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'members' }

const kinds: Readonly<Record<string, string>> = {
  record: 'a plain object',
  object: 'an object',
  array: 'a list',
  string: 'a string',
  number: 'a finite number',
  int: 'a whole number',
  AbortSignal: 'an AbortSignal',
}

const issuesShown = 8

/** `limits.wallMs: Too small: …; files["../x"]: must be a relative path …`. */
export function describeIssues(error: z.ZodError): string {
  return error.issues.slice(0, issuesShown).map(describeIssue).join('; ')
}

function describeIssue(issue: z.core.$ZodIssue): string {
  // A key of a record that does not fit: what is wrong with it is one level down.
  const message =
    issue.code === 'invalid_key' ? issue.issues.map((inner) => inner.message).join(', ') : issue.message
  return issue.path.length === 0 ? message : `${describePath(issue.path)}: ${message}`
}

function describePath(path: readonly PropertyKey[]): string {
  const parts = path.map((part, index) => {
    const name = String(part).slice(0, 100)
    if (typeof part === 'number' || !/^[A-Za-z_]\w*$/.test(name))
      return `[${typeof part === 'number' ? part : JSON.stringify(name)}]`
    return index === 0 ? name : `.${name}`
  })
  return parts.join('')
}
