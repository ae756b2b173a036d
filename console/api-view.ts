/** The routes, from the server's own description. */
import { type Access, getJson } from './access.ts'
import { element } from './elements.ts'
import { sayError, type View } from './view.ts'

interface Reference {
  readonly $ref?: string
}

interface Content {
  readonly schema?: Reference
  readonly 'x-events'?: Readonly<Record<string, Reference>>
}

interface Operation {
  readonly summary: string
  readonly 'x-scope': string
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}

interface Description {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

export function createApiView(access: Access): View {
  const list = element('div', { class: 'routes' })
  const version = element('span', { class: 'muted' })
  const root = element(
    'section',
    { class: 'page' },
    element('h1', {}, 'API ', version),
    element(
      'p',
      { class: 'muted' },
      'Every route takes the header Authorization: Bearer <token>. The description itself is at /openapi.json.',
    ),
    list,
  )
  void fill(access, list, version)
  return { root }
}

async function fill(access: Access, list: HTMLElement, version: HTMLElement): Promise<void> {
  try {
    const description = await getJson<Description>('/openapi.json', access)
    version.textContent = description.info.version
    for (const [path, operations] of Object.entries(description.paths))
      for (const [method, operation] of Object.entries(operations))
        list.append(describe({ path, method, operation, description }))
  } catch (error) {
    list.append(element('p', { class: 'trouble', role: 'alert' }, sayError(error)))
  }
}

interface Described {
  readonly path: string
  readonly method: string
  readonly operation: Operation
  readonly description: Description
}

function describe({ path, method, operation, description }: Described): HTMLElement {
  const { summary, responses, requestBody } = operation
  const reply = Object.values(responses)[0]?.content
  const events = Object.entries(reply?.['text/event-stream']?.['x-events'] ?? {})
  const schemas = [
    ['Request', requestBody?.content['application/json']?.schema?.$ref],
    ['Reply', reply?.['application/json']?.schema?.$ref],
    ...events
      .filter(([name]) => name !== 'result' && name !== 'error')
      .map(([name, { $ref }]) => [`Event ${name}`, $ref] as const),
  ] as const
  return element(
    'details',
    { class: 'route' },
    element(
      'summary',
      {},
      element('code', { class: `method ${method}` }, method.toUpperCase()),
      element('code', { class: 'path' }, path),
      element('span', { class: 'muted' }, summary),
    ),
    element('p', {}, `Scope: ${operation['x-scope']}`),
    ...schemas.flatMap(([label, ref]) => {
      const name = ref?.split('/').at(-1) ?? ''
      const schema = description.components.schemas[name]
      if (schema === undefined) return []
      return [
        element('h2', {}, `${label}: ${name}`),
        element('pre', { tabindex: '0', 'aria-label': name }, JSON.stringify(schema, undefined, 2)),
      ]
    }),
  )
}
