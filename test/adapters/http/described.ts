/** Compares every reply in the tests with the description of its route in `/openapi.json`. */
import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describeApi } from '../../../src/adapters/http/openapi.ts'
import { findRoute } from '../../../src/adapters/http/routes/routes.ts'
import { routes } from '../../../src/adapters/http/routes/all-routes.ts'

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, DescribedContent>> }>
  >
}

interface DescribedContent {
  readonly schema?: { readonly $ref?: string }
  readonly 'x-events'?: Readonly<Record<string, { readonly $ref: string }>>
}

const api = describeApi(routes, '0') as Described
// The schemas also have keywords of OpenAPI.
const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addSchema({ $id: 'api', components: api.components })

/** Undefined for a path without a route. */
function operationOf(method: string, path: string): Operation | undefined {
  try {
    const { route } = findRoute(routes, method, path.split('?')[0] ?? '')
    return api.paths[route.path.replace('...}', '}')]?.[method.toLowerCase()]
  } catch {
    return undefined
  }
}

export interface SeenReply {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly type: string | undefined
  readonly text: string
}

/** Not part of the description: health, metrics, and the pages and files of documentation and console. */
const undescribed = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/',
  '/docs',
  '/console.js',
  '/terminal.js',
  '/console.css',
  '/icon.svg',
]

export function requireDescribed({ method, path, status, type, text }: SeenReply): void {
  // A preflight request of a browser.
  if (undescribed.includes(path) || (method === 'OPTIONS' && status === 204)) return
  const operation = operationOf(method, path)
  if (status >= 400) {
    if (status === 416 || method === 'HEAD') return
    assert.equal(type, 'application/problem+json', `${method} ${path}: ${text}`)
    requireSchema('#/components/schemas/Problem', text)
    return
  }
  const reply = operation?.responses[status === 206 ? 200 : status]
  assert.ok(reply !== undefined, `${method} ${path}: ${status} is not described`)
  if (method === 'HEAD') return
  if (text === '' && reply.content === undefined) return
  const content = reply.content?.[type ?? '']
  assert.ok(
    content !== undefined || type === 'application/x-tar',
    `${method} ${path}: ${type} is not described`,
  )
  const ref = content?.schema?.$ref
  if (ref !== undefined) requireSchema(ref, text)
}

export interface SeenEvent extends Pick<SeenReply, 'method' | 'path'> {
  readonly event: string
  readonly data: object
}

export function requireDescribedEvent({ method, path, event, data }: SeenEvent): void {
  const content = operationOf(method, path)?.responses['200']?.content?.['text/event-stream']
  const ref = content?.['x-events']?.[event]?.$ref
  assert.ok(ref !== undefined, `${method} ${path}: the event ${event} is not described`)
  requireSchema(ref, JSON.stringify(data))
}

export function requireSchema(ref: string, text: string): void {
  const validate = ajv.getSchema(`api${ref}`)
  assert.ok(validate !== undefined, ref)
  assert.ok(
    validate(JSON.parse(text)),
    `${ref}: ${JSON.stringify(validate.errors)} in ${text.slice(0, 2000)}`,
  )
}
