/** A terminal of a sandbox. The library draws the shell's output as text, character by character. */
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import type { RemoteSandbox, RemoteTerminal } from '../../src/adapters/client/index.ts'
import { element } from '../elements.ts'
import { sayError } from '../view.ts'
import { allowStylesFromScripts } from '../style-sheets.ts'

const scrollbackMax = 2000

export class TerminalPane implements Disposable {
  readonly root = element('div', { class: 'screen' })
  readonly #screen: Terminal
  readonly #fit = new FitAddon()
  readonly #watch: ResizeObserver
  #line: RemoteTerminal | undefined

  constructor() {
    allowStylesFromScripts()
    this.#screen = new Terminal({
      fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
      fontSize: 13,
      scrollback: scrollbackMax,
      screenReaderMode: true,
      theme: { background: '#14181b', foreground: '#e4e7e5', cursor: '#5eead4' },
    })
    this.#screen.loadAddon(this.#fit)
    this.#watch = new ResizeObserver(() => this.#fit.fit())
  }

  /** Call this when the element is in the page. */
  async open(sandbox: RemoteSandbox): Promise<void> {
    const screen = this.#screen
    screen.open(this.root)
    this.#fit.fit()
    this.#watch.observe(this.root)
    try {
      const { cols: columns, rows } = screen
      const line = await sandbox.openTerminal({ columns, rows, onOutput: (bytes) => screen.write(bytes) })
      this.#line = line
      screen.onData((text) => line.write(text))
      screen.onResize(({ cols, rows: lines }) => line.resize({ columns: cols, rows: lines }))
      line.ended.then(
        ({ exitCode }) => this.#end(`The shell has ended with exit code ${exitCode}.`),
        (error: unknown) => this.#end(sayError(error)),
      )
      screen.focus()
    } catch (error) {
      this.#end(sayError(error))
    }
  }

  [Symbol.dispose](): void {
    this.#watch.disconnect()
    this.#line?.close()
    this.#screen.dispose()
  }

  #end(said: string): void {
    this.root.after(element('p', { class: 'muted', role: 'status' }, said))
  }
}
