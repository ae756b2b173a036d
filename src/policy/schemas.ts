/** Checks that options and requests share. */
import { isAbsolute, normalize } from 'node:path'

import { z } from 'zod'

import { limitRanges, perLimit } from '../core/limits.ts'
import type { LimitName, Limits } from '../core/limits.ts'
import type { Language } from '../core/request.ts'

type LimitSchema = z.ZodType<Limits[LimitName]>

const rangeSchemas = perLimit((name): LimitSchema => {
  const { usual, least, most } = limitRanges[name]
  const range = z.int().min(least).max(most)
  return usual === null ? range.nullable() : range
})

export const limitsSchema = z
  .strictObject(rangeSchemas as { [Name in LimitName]: z.ZodType<Limits[Name]> })
  .partial()

/** A sandbox has no time limit of its own, only its commands have. */
export const sandboxLimitsSchema = limitsSchema.omit({ wallMs: true, cpuMs: true })

/**
 * Names as `import` takes them, in each language. A package may have a scope, and a path to one of its files may
 * follow.
 */
const moduleNames = {
  python: /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/,
  node: /^(?:@\w[\w.-]*\/)?\w[\w.-]*(?:\/\w[\w.-]*)*$/,
}
const moduleCharactersMax = 200
const modulesMax = 64

const namesOf = (pattern: RegExp, what: string) =>
  z.array(z.string().max(moduleCharactersMax).regex(pattern, `is not the name of a ${what}`)).max(modulesMax)

const pythonModules = namesOf(moduleNames.python, 'module')
const nodePackages = namesOf(moduleNames.node, 'package')

/** The operator's option. */
export const preloadOptionSchema = z.union([
  pythonModules,
  z.strictObject({ python: pythonModules.optional(), node: nodePackages.optional() }),
])

/** For a request, whose modules `checkPreload` checks by its language. */
export const preloadSchema = z.array(z.string().max(moduleCharactersMax)).max(modulesMax)

export function checkPreload(
  {
    language,
    preload = [],
  }: { readonly language: Language; readonly preload?: readonly string[] | undefined },
  context: z.RefinementCtx,
): void {
  const isOfNode = language === 'javascript' || language === 'typescript'
  const { error } = (isOfNode ? nodePackages : pythonModules).safeParse(preload)
  for (const issue of error?.issues ?? [])
    context.addIssue({ code: 'custom', path: ['preload', ...issue.path], message: issue.message })
}

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
      abort: true, // the next check asks the file system, which throws on a NUL
    },
  )

/** Zod reports invalid records and inputs; this says what is wanted, in the caller's terms. */
const wording: z.core.$ZodErrorMap = (issue) => {
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
      return describeUnknownKeys(issue.keys, issue.inst)
    default:
      return undefined
  }
}

/** Without `jitless`, zod compiles each schema with `eval` at its first use, which takes as long as hundreds of uses. */
export const parsing: z.core.ParseContext<z.core.$ZodIssue> = { error: wording, jitless: true }

function describeUnknownKeys(keys: readonly string[], schema: unknown): string {
  const shown = keys.slice(0, issuesShown)
  const others = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : ''
  const unknown = `unknown key ${shown.map((key) => JSON.stringify(key.slice(0, 100))).join(', ')}${others}`
  if (!(schema instanceof z.ZodObject)) return unknown
  const { shape } = schema
  const meant = shown.flatMap((key) => limitMeantBy(key, shape))
  const advice = meant.length === 0 ? '' : `; write ${meant.join(', ')}`
  return `${unknown}; known keys: ${Object.keys(shape).join(', ')}${advice}`
}

const isLimits = (schema: unknown, limits: z.ZodObject) =>
  schema instanceof z.ZodOptional && schema.unwrap() === limits

/** Newcomers look for limits, and first for the time limit, among the other options, or among the limits of a sandbox. */
function limitMeantBy(key: string, shape: z.core.$ZodShape): string[] {
  const name = /^time-?out(?:_?ms)?$/i.test(key) ? 'wallMs' : key
  const isOfSandbox = shape === sandboxLimitsSchema.shape || isLimits(shape['limits'], sandboxLimitsSchema)
  if (isOfSandbox && (name === 'wallMs' || name === 'cpuMs'))
    return ['idleTimeoutMs for the sandbox, or `timeout` in exec() and runCode()']
  const hasLimits = isOfSandbox || isLimits(shape['limits'], limitsSchema)
  return hasLimits && Object.hasOwn(limitRanges, name) ? [`limits.${name}`] : []
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

/** Zod's message for a union without its own. */
const zodUnionText = 'Invalid input'
const issuesShown = 8

/** `limits.wallMs: must be at least 1; files["../x"]: must be a relative path …`. */
export function describeIssues(error: z.ZodError): string {
  return error.issues.slice(0, issuesShown).map(describeIssue).join('; ')
}

/** The same as a sentence, for a single input that needs no name. */
export function sayIssues(error: z.ZodError): string {
  return `${describeIssues(error)}.`.replace(/^must /, 'It must ').replace(/^unknown /, 'Unknown ')
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_union' && issue.message === zodUnionText) return describeUnion(issue)
  // For an invalid key of a record, the reason is one level down.
  const message =
    issue.code === 'invalid_key' ? issue.issues.map((inner) => inner.message).join(', ') : issue.message
  return issue.path.length === 0 ? message : `${describePath(issue.path)}: ${message}`
}

/** What is wrong inside the intended alternative, or the list of alternatives if none was intended. */
function describeUnion({ errors, path }: z.core.$ZodIssueInvalidUnion): string {
  const meant = errors.find((issues) => issues.every((issue) => !isOfAnotherKind(issue)))
  if (meant !== undefined)
    return meant.map((issue) => describeIssue({ ...issue, path: [...path, ...issue.path] })).join('; ')
  const wanted = errors.map(([issue]) => issue?.message.replace(/^must be /, '')).join(' or ')
  return describeIssue({ code: 'custom', path, message: `must be ${wanted}` })
}

/** Whether the value has a different type, rather than a mistake inside it. */
function isOfAnotherKind({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
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
