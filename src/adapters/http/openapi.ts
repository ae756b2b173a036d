/** `GET /openapi.json`: the routes and their schemas, made from the tables that serve them. */
import { z } from 'zod'
import { flagSchema } from './routes/file-routes.ts'
import type { Route } from './routes/routes.ts'
import { schemas } from './schemas.ts'
import type { SchemaName } from './schemas.ts'

type Content = SchemaName | 'bytes'

export function describeApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = route.path.replace('...}', '}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Lazaret', version, description: 'Runs untrusted code, each run in its own kernel jail.' },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, toJsonSchema(schema)]),
      ),
    },
  }
}

function describeRoute({ summary, path, scope, query = [], body, status, reply, events }: Route): object {
  const names = [...path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name)
  const parameters = [
    ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...query.map((name) => ({ name, in: 'query', schema: flagSchema(name) ?? { type: 'string' } })),
  ]
  const ofReply = reply === undefined ? {} : contentOf(reply)
  return {
    summary,
    'x-scope': scope,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { content: contentOf(body) } }),
    responses: {
      [status]: {
        description: summary,
        ...(reply !== undefined && { content: { ...ofReply, ...eventsOf(events) } }),
      },
      default: { description: 'What went wrong', content: { 'application/problem+json': refTo('Problem') } },
    },
  }
}

/** OpenAPI itself cannot describe the events of a stream. */
function eventsOf(events: Route['events']): object {
  if (events === undefined) return {}
  const refs = Object.entries(events).map(([name, schema]) => [name, refTo(schema).schema])
  return { 'text/event-stream': { schema: { type: 'string' }, 'x-events': Object.fromEntries(refs) } }
}

function contentOf(content: Content | readonly Content[]): object {
  const all = typeof content === 'string' ? [content] : content
  return Object.fromEntries(
    all.map((one) => (one === 'bytes' ? ['application/octet-stream', {}] : ['application/json', refTo(one)])),
  )
}

function refTo(name: SchemaName): { readonly schema: object } {
  return { schema: { $ref: `#/components/schemas/${name}` } }
}

/** The engine also checks what JSON Schema cannot express. */
function toJsonSchema(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
  return rest
}
