/** The console of `lazaret serve`: a page that runs code and shows the wall around it. */
import { type Access, findToken, forgetToken, keepToken, openAccess } from './access.ts'
import { createApiView } from './api-view.ts'
import { button, element } from './elements.ts'
import { createMachineView } from './machine-view.ts'
import { createRunView } from './run/run-view.ts'
import { createSandboxView } from './sandbox/sandbox-view.ts'
import type { View } from './view.ts'

const views: readonly {
  readonly name: string
  readonly label: string
  readonly create: (access: Access) => View
}[] = [
  { name: 'run', label: 'Run', create: createRunView },
  { name: 'sandboxes', label: 'Sandboxes', create: createSandboxView },
  { name: 'machine', label: 'Machine', create: createMachineView },
  { name: 'api', label: 'API', create: createApiView },
]

function brand(): HTMLElement {
  const icon = element('img', { src: '/icon.svg', alt: '', width: 28, height: 28 })
  return element('a', { class: 'brand', href: '#run' }, icon, element('span', {}, 'Lazaret'))
}

function start(access: Access): void {
  const made = new Map<string, View>()
  const main = element('main', { id: 'main', tabindex: '-1' })
  const links = views.map(({ name, label }) => element('a', { href: `#${name}`, 'data-view': name }, label))
  const leave = button(
    'Sign out',
    () => {
      forgetToken()
      location.reload()
    },
    { class: 'quiet' },
  )
  document.body.replaceChildren(
    element('a', { class: 'skip', href: '#main' }, 'Skip to content'),
    element('header', { class: 'top' }, brand(), element('nav', { 'aria-label': 'Views' }, ...links), leave),
    main,
  )
  const show = (): void => {
    const asked = location.hash.slice(1)
    if (asked === 'main') return main.focus()
    const usual = location.pathname === '/docs' ? 'api' : 'run'
    const wanted = views.find(({ name }) => name === asked) ?? views.find(({ name }) => name === usual)
    if (wanted === undefined) return
    for (const link of links) {
      if (link.dataset['view'] === wanted.name) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
    }
    for (const [name, view] of made) if (name !== wanted.name) view.hide?.()
    const view = made.get(wanted.name) ?? wanted.create(access)
    made.set(wanted.name, view)
    main.replaceChildren(view.root)
    view.show?.()
    document.title = `${wanted.label} · Lazaret`
  }
  addEventListener('hashchange', show)
  show()
}

/** `said` is the reason why the user is asked again. */
function askForToken(said = ''): void {
  const input = element('input', { id: 'token', type: 'password', autocomplete: 'off', required: true })
  const form = element(
    'form',
    {
      class: 'sign-in card',
      onSubmit: (event) => {
        event.preventDefault()
        keepToken(input.value.trim())
        void enter(input.value.trim())
      },
    },
    brand(),
    element('p', {}, 'Open the link that lazaret serve printed, or paste a token.'),
    element('label', { for: 'token' }, 'Token'),
    input,
    element('p', { class: 'trouble', role: 'alert' }, said),
    element('button', { type: 'submit', class: 'primary' }, 'Enter'),
  )
  document.body.replaceChildren(element('main', { class: 'centre' }, form))
  input.focus()
}

async function enter(token: string): Promise<void> {
  try {
    const access = openAccess(token)
    const reply = await fetch('/openapi.json', { headers: { authorization: `Bearer ${token}` } })
    if (reply.status === 401) {
      forgetToken()
      return askForToken('This server does not know the token.')
    }
    return start(access)
  } catch {
    return askForToken('The server cannot be reached, or this is not a valid token.')
  }
}

const token = findToken()
if (token === undefined) askForToken()
else void enter(token)
