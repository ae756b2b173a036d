/** Runs a program once: shows its code, its output as it arrives, its result, and the layers that protected the host. */
import type { Language, RunRequest } from '../../src/core/request.ts'
import { sayOutcome } from '../../src/core/outcome.ts'
import type { RunResult } from '../../src/core/result.ts'
import type { Access } from '../access.ts'
import { button, element } from '../elements.ts'
import { sayTime } from '../quantities.ts'
import { sayError, type View } from '../view.ts'
import { showWall } from '../wall/wall-view.ts'
import { createCopyButtons } from './copy-as.ts'
import { DisplayPane } from './display-pane.ts'
import { Editor } from './editor.ts'
import { examples } from './examples.ts'
import { OutputPane } from './output-pane.ts'
import { showValue } from './show-value.ts'

const languages: readonly (readonly [Language, string])[] = [
  ['python', 'Python'],
  ['javascript', 'JavaScript'],
  ['typescript', 'TypeScript'],
  ['shell', 'Shell'],
]

export function createRunView(access: Access): View {
  return { root: new RunView(access).root }
}

interface Panes {
  readonly output: OutputPane
  readonly displays: DisplayPane
}

class RunView {
  readonly root: HTMLElement
  readonly #access: Access
  readonly #editor = new Editor(() => void this.#run())
  readonly #examples = element('select', { 'aria-label': 'Example', onChange: () => this.#pick() })
  readonly #status = element('p', { class: 'status', role: 'status' }, 'Ready.')
  readonly #results = element('div', { class: 'results' })
  readonly #wall = element('aside', { class: 'card wall-card', 'aria-label': 'The wall' })
  readonly #go = button('Run', () => this.#run(), { class: 'primary', title: 'Ctrl Enter' })
  readonly #stop = button('Stop', () => this.#running?.abort(), { class: 'danger', disabled: true })
  readonly #seconds = element('input', { type: 'number', min: 1, max: 600, value: 30, id: 'seconds' })
  readonly #memory = element('input', { type: 'number', min: 16, max: 65_536, value: 512, id: 'memory' })
  readonly #input = element('input', {
    type: 'text',
    id: 'input',
    placeholder: '[1, 2, 3]',
    spellcheck: 'false',
  })
  #language: Language = 'python'
  #running: AbortController | undefined

  constructor(access: Access) {
    this.#access = access
    const tabs = languages.map(([name, label]) =>
      button(label, () => this.#choose(name), {
        class: 'tab',
        'data-language': name,
        'aria-pressed': 'false',
      }),
    )
    this.root = element(
      'div',
      { class: 'run' },
      element('h1', { class: 'hidden' }, 'Run'),
      element(
        'section',
        { class: 'card work', 'aria-label': 'Program' },
        element(
          'div',
          { class: 'bar-row' },
          element('div', { class: 'tabs', role: 'group', 'aria-label': 'Language' }, ...tabs),
          this.#examples,
        ),
        this.#editor.root,
        this.#settings(),
        element(
          'div',
          { class: 'bar-row' },
          element('div', { class: 'actions' }, this.#go, this.#stop),
          this.#copyButtons(),
        ),
      ),
      this.#wall,
      element('section', { class: 'card out', 'aria-label': 'Result' }, this.#status, this.#results),
    )
    this.#wall.append(
      element('h2', {}, 'The wall'),
      element(
        'p',
        { class: 'muted' },
        'After a run, this shows which layers contained it, and what enforced each limit.',
      ),
    )
    this.#choose('python')
  }

  #settings(): HTMLElement {
    const field = (label: string, input: HTMLElement): HTMLElement =>
      element('label', { class: 'field', for: input.id }, element('span', {}, label), input)
    return element(
      'details',
      { class: 'settings' },
      element('summary', {}, 'Input and limits'),
      element(
        'div',
        { class: 'fields' },
        field('Seconds', this.#seconds),
        field('Memory in MiB', this.#memory),
        field('Input, as JSON', this.#input),
      ),
    )
  }

  #copyButtons(): HTMLElement {
    const { token } = this.#access
    return createCopyButtons(() => ({
      url: location.origin,
      token,
      language: this.#language,
      code: this.#editor.text,
    }))
  }

  #choose(language: Language): void {
    this.#language = language
    this.#editor.language = language
    for (const tab of this.root.querySelectorAll<HTMLElement>('button[data-language]'))
      tab.setAttribute('aria-pressed', String(tab.dataset['language'] === language))
    const fitting = examples.filter((one) => one.language === language)
    this.#examples.replaceChildren(...fitting.map(({ label }) => element('option', { value: label }, label)))
    this.#pick()
  }

  #pick(): void {
    const wanted = this.#examples.value
    const found = examples.find(({ label, language }) => label === wanted && language === this.#language)
    if (found !== undefined) this.#editor.text = found.code
  }

  #request(): RunRequest {
    const input = this.#input.value.trim()
    return {
      language: this.#language,
      code: this.#editor.text,
      limits: {
        wallMs: Number(this.#seconds.value) * 1000,
        memoryBytes: Number(this.#memory.value) * 1024 * 1024,
      },
      ...(input !== '' && { input: JSON.parse(input) as unknown }),
    }
  }

  async #run(): Promise<void> {
    if (this.#running !== undefined) return
    const running = new AbortController()
    this.#running = running
    this.#go.disabled = true
    this.#stop.disabled = false
    const [output, displays] = [new OutputPane(), new DisplayPane()]
    this.#say('Running…', 'busy')
    this.#results.replaceChildren(output.root, displays.root)
    try {
      const result = await this.#access.lazaret.run({
        ...this.#request(),
        signal: running.signal,
        onOutput: ({ stream, text }) => output.add(stream, text),
        onDisplay: (bundle, facts) => displays.show(bundle, facts),
        onClear: (waits) => displays.clear(waits),
      })
      output.flush()
      this.#show(result, { output, displays })
    } catch (error) {
      output.flush()
      this.#say(error instanceof SyntaxError ? `Input: ${error.message}` : sayError(error), 'bad')
    } finally {
      this.#running = undefined
      this.#go.disabled = false
      this.#stop.disabled = true
    }
  }

  #show(result: RunResult, { output, displays }: Panes): void {
    const { outcome, usage, receipt, value, valueText } = result
    const code = 'exitCode' in outcome && outcome.exitCode !== 0 ? ` with exit code ${outcome.exitCode}` : ''
    const said = outcome.kind === 'completed' ? `Completed${code}` : `It ${sayOutcome(outcome)}`
    this.#say(`${said}, after ${sayTime(usage.wallMs)}.`, result.ok ? 'good' : 'bad')
    if (output.isEmpty) output.root.remove()
    if ('error' in outcome) displays.root.before(this.#showError(outcome.error))
    displays.settle(result.displays)
    // A value with rich formats has been displayed already.
    if (valueText !== undefined && valueText !== '') this.#results.append(showValue(value, valueText))
    if (this.#results.childElementCount === 0)
      this.#results.append(element('p', { class: 'muted' }, 'It printed nothing and has no value.'))
    this.#wall.replaceChildren(...showWall({ receipt, usage, outcome }))
  }

  #showError({
    name,
    message,
    line,
  }: {
    readonly name: string
    readonly message: string
    readonly line?: number
  }): HTMLElement {
    return element(
      'div',
      { class: 'guest-error' },
      element('p', {}, element('strong', {}, name.slice(0, 200)), `: ${message.slice(0, 10_000)}`),
      line !== undefined && button(`Line ${line}`, () => this.#editor.goTo(line), { class: 'quiet' }),
    )
  }

  #say(text: string, kind: 'busy' | 'good' | 'bad'): void {
    this.#status.textContent = text
    this.#status.dataset['kind'] = kind
  }
}
