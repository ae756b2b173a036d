/** Finds the route of a request in a table, by its method and path. Paths are not normalized. */
import { LazaretError } from '../../../core/errors/errors.ts'
import type { OpenEngine } from '../../../engine/lazaret.ts'
import type { TokenScope } from '../api-tokens.ts'
import type { Exchange } from '../exchange.ts'
import type { HeldSandboxes } from '../held-sandboxes.ts'
import type { OpenRuns } from '../open-runs.ts'
import type { SchemaName } from '../schemas.ts'
import type { Quotas } from '../quotas.ts'

/** What all requests share. */
export interface Api {
  readonly engine: OpenEngine
  readonly version: string
  readonly quotas: Quotas
  readonly runs: OpenRuns
  readonly sandboxes: HeldSandboxes
}

export interface Route {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** `{name}` is one part of the path; `{name...}` at its end is the rest of the path. */
  readonly path: string
  /** `any`: every token has it. */
  readonly scope: TokenScope | 'any'
  readonly summary: string
  /** The allowed keys of the query. */
  readonly query?: readonly string[]
  readonly body?: SchemaName | 'bytes'
  /** The status of success. */
  readonly status: number
  readonly reply?: SchemaName | 'bytes' | readonly (SchemaName | 'bytes')[]
  /** If the reply can be events: the schemas of their data, by name. */
  readonly events?: Readonly<Record<string, SchemaName>>
  /** Whether it belongs to running work, and so is served even during shutdown. */
  readonly isOfOpenWork?: boolean
  readonly serve: (exchange: Exchange, api: Api) => Promise<void>
}

export interface FoundRoute {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

const partsMax = 256

/** Throws NOT_FOUND, METHOD_NOT_ALLOWED with the methods in its detail, or INVALID_REQUEST. */
export function findRoute(routes: readonly Route[], method: string, path: string): FoundRoute {
  const parts = splitPath(path)
  const found = routes.flatMap((route) => {
    const params = match(patternOf(route.path), parts)
    return params === undefined ? [] : [{ route, params }]
  })
  const fitting = found.find(({ route }) => route.method === method)
  if (fitting !== undefined) return fitting
  if (found.length === 0) throw new LazaretError('NOT_FOUND')
  throw new LazaretError('METHOD_NOT_ALLOWED', {
    detail: `It allows ${[...new Set(found.map(({ route }) => route.method))].join(', ')}.`,
  })
}

const patterns = new Map<string, readonly string[]>()

function patternOf(path: string): readonly string[] {
  const pattern = patterns.get(path) ?? path.slice(1).split('/')
  patterns.set(path, pattern)
  return pattern
}

/** Decoded. Ambiguous paths are refused. */
function splitPath(path: string): string[] {
  if (!path.startsWith('/')) throw new LazaretError('NOT_FOUND')
  const parts = path.slice(1).split('/').map(decode)
  if (parts.length > partsMax || parts.some((part) => part === '.' || part === '..'))
    throw new LazaretError('INVALID_REQUEST', {
      detail: 'The path has a part that is `.` or `..`, or too many parts.',
    })
  return parts
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new LazaretError('INVALID_REQUEST', { detail: 'The path is not properly encoded.' })
  }
}

function match(pattern: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [index, wanted] of pattern.entries()) {
    const [, name, isRest] = /^\{(\w+)(\.\.\.)?\}$/.exec(wanted) ?? []
    if (name !== undefined && isRest !== undefined) {
      if (parts.length <= index) return undefined
      params[name] = parts.slice(index).join('/')
      return params
    }
    const part = parts[index]
    if (part === undefined || part === '' || (name === undefined && part !== wanted)) return undefined
    if (name !== undefined) params[name] = part
  }
  return parts.length === pattern.length ? params : undefined
}
