/** The sandboxes of this token, and the files, the terminal and the limits of the chosen one. */
import type { RemoteSandbox } from '../../src/adapters/client/index.ts'
import type { Access } from '../access.ts'
import { button, element } from '../elements.ts'
import { sayBytes } from '../quantities.ts'
import { sayError, type View } from '../view.ts'
import { FilesPane } from './files-pane.ts'

export function createSandboxView(access: Access): View {
  const view = new SandboxView(access)
  return { root: view.root, show: () => void view.look() }
}

class SandboxView {
  readonly root: HTMLElement
  readonly #access: Access
  readonly #list = element('ul', { class: 'boxes', 'aria-label': 'Sandboxes' })
  readonly #chosen = element('div', { class: 'chosen' })
  readonly #said = element('p', { class: 'trouble', role: 'alert' })
  #terminal: Disposable | undefined
  #id: string | undefined

  constructor(access: Access) {
    this.#access = access
    this.root = element(
      'section',
      { class: 'page sandboxes' },
      element(
        'div',
        { class: 'bar-row' },
        element('h1', {}, 'Sandboxes'),
        button('New sandbox', () => this.#create(), { class: 'primary' }),
      ),
      element(
        'p',
        { class: 'muted' },
        'A small machine that persists: its files and processes last until it is destroyed.',
      ),
      this.#list,
      this.#said,
      this.#chosen,
    )
  }

  async look(): Promise<void> {
    await this.#during(async () => {
      const all = await this.#access.lazaret.listSandboxes()
      this.#list.replaceChildren(...all.map((one) => this.#show(one)))
      if (all.length === 0) this.#list.append(element('li', { class: 'muted' }, 'No sandboxes yet.'))
      if (this.#id !== undefined && !all.some(({ id }) => id === this.#id)) this.#leave()
    })
  }

  #show(sandbox: RemoteSandbox): HTMLElement {
    const { id } = sandbox
    return element(
      'li',
      {},
      button(id, () => this.#open(sandbox), { class: 'tab', 'aria-pressed': String(id === this.#id) }),
    )
  }

  async #create(): Promise<void> {
    await this.#during(async () => {
      const name = `box-${Math.floor(Date.now() / 1000) % 100_000}`
      const sandbox = await this.#access.lazaret.sandbox({ id: name, idleTimeoutMs: 3_600_000 })
      await this.#open(sandbox)
    })
  }

  async #open(sandbox: RemoteSandbox): Promise<void> {
    this.#leave()
    this.#id = sandbox.id
    const files = new FilesPane(sandbox)
    const place = element('div', { class: 'terminal-place' })
    const opener = button('Open a terminal', () => this.#openTerminal(sandbox, place, opener), {
      class: 'primary',
    })
    this.#chosen.replaceChildren(
      element(
        'div',
        { class: 'bar-row' },
        element('h2', {}, sandbox.id),
        button('Destroy', () => this.#destroy(sandbox), { class: 'danger' }),
      ),
      showLimits(sandbox),
      element(
        'div',
        { class: 'pair wide' },
        element(
          'section',
          { class: 'card', 'aria-label': 'Terminal' },
          element('div', { class: 'bar-row' }, element('h3', {}, 'Terminal'), opener),
          place,
        ),
        element('section', { class: 'card', 'aria-label': 'Files' }, element('h3', {}, 'Files'), files.root),
      ),
    )
    await Promise.all([files.look(), this.look()])
  }

  /** The library is as large as the rest of the console, so it is loaded on demand. */
  async #openTerminal(sandbox: RemoteSandbox, place: HTMLElement, opener: HTMLButtonElement): Promise<void> {
    await this.#during(async () => {
      const { TerminalPane } = await import('./terminal-pane.ts')
      this.#terminal?.[Symbol.dispose]()
      const pane = new TerminalPane()
      this.#terminal = pane
      place.replaceChildren(pane.root)
      opener.textContent = 'Open another'
      opener.className = 'quiet'
      await pane.open(sandbox)
    })
  }

  async #destroy(sandbox: RemoteSandbox): Promise<void> {
    await this.#during(async () => {
      await sandbox.destroy()
      this.#leave()
      await this.look()
    })
  }

  #leave(): void {
    this.#terminal?.[Symbol.dispose]()
    this.#terminal = undefined
    this.#id = undefined
    this.#chosen.replaceChildren()
  }

  async #during(act: () => Promise<void>): Promise<void> {
    try {
      this.#said.textContent = ''
      await act()
    } catch (error) {
      this.#said.textContent = sayError(error)
    }
  }
}

function showLimits({ limits }: RemoteSandbox): HTMLElement {
  const { memoryBytes, diskBytes, processesMax } = limits
  const parts = [
    `${sayBytes(memoryBytes)} of memory`,
    `${sayBytes(diskBytes)} of files`,
    `${processesMax} processes`,
  ]
  return element('p', { class: 'muted' }, `Together at most ${parts.join(', ')}.`)
}
