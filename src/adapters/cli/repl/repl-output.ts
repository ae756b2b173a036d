/** What a REPL prints from the guest: output as it arrives, displays, values, and how code ended. */
import type { MimeBundle } from '../../../core/output.ts'
import type { CodeResult } from '../../../sandbox/contexts/context-types.ts'
import { paint } from '../output/colour.ts'
import { describeOutcome } from '../output/describe-outcome.ts'
import { GuestOutput } from '../output/guest-output.ts'
import { describeTruncated } from '../output/remarks.ts'
import { showWhole } from '../output/terminal-text.ts'
import { pictureProtocolOf, showBundle } from './show-bundle.ts'

export class ReplOutput {
  readonly #output = new GuestOutput()
  readonly #isTerminal = process.stdout.isTTY
  readonly #protocol = this.#isTerminal ? pictureProtocolOf(process.env) : null

  /** The callbacks of `runCode()`. */
  readonly callbacks = {
    onStdout: (text: string) => this.#write('stdout', text),
    onStderr: (text: string) => this.#write('stderr', text),
    onResult: (bundle: MimeBundle) => this.#show(bundle),
  }

  /** The next thing printed begins a line. */
  finishLine(): void {
    this.#output.end()
    this.#output.finishLine('stdout')
  }

  tellEnd({ outcome, note, truncated }: CodeResult): void {
    this.finishLine()
    const ending =
      outcome.kind === 'failed' || outcome.kind === 'syntax-error' ? undefined : describeOutcome(outcome)
    for (const line of [...describeTruncated(truncated), ...(ending === undefined ? [] : [ending])])
      this.tell(line)
    if (note !== undefined) this.tell(note)
  }

  /** A line that Lazaret prints. */
  tell(line: string): void {
    this.#output.printLine('stderr', paint('yellow', `lazaret: ${line}`, process.stderr))
  }

  #write(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    return this.#output.write({ stream, bytes: Buffer.from(text), text, atMs: 0 })
  }

  #show(bundle: MimeBundle): void {
    const { text, picture } = showBundle(bundle, this.#protocol)
    this.#output.end()
    this.#output.printLine('stdout', picture ?? (this.#isTerminal ? showWhole(text) : text))
  }
}
