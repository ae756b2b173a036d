/** Passes on the guest's output as it arrives: unchanged into a pipe or file, made safe on a terminal. */
import { once } from 'node:events'

import type { OutputChunk } from '../../../core/request.ts'
import { resetOn, TerminalFilter } from './terminal-text.ts'

type StreamName = OutputChunk['stream']

export class GuestOutput {
  readonly #filters: Readonly<Record<StreamName, TerminalFilter | undefined>> = {
    stdout: process.stdout.isTTY ? new TerminalFilter() : undefined,
    stderr: process.stderr.isTTY ? new TerminalFilter() : undefined,
  }
  readonly #isInsideLine = { stdout: false, stderr: false }
  /** Whether escape sequences went out unfiltered into a pipe: its reader may show them on this terminal. */
  #isStyled = false

  /** The request's `onOutput`. A slow reader of this command's output slows the guest down. */
  readonly write = async ({ stream, bytes, text }: OutputChunk): Promise<void> => {
    this.#isStyled ||= this.#filters[stream] === undefined && (bytes.includes(0x1b) || bytes.includes(0x9b))
    const isTaken = process[stream].write(this.#filters[stream]?.push(text) ?? bytes)
    this.#noteLine(stream, bytes)
    if (!isTaken) await once(process[stream], 'drain').catch(() => undefined)
  }

  #noteLine(stream: StreamName, bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#isInsideLine[stream] = bytes.at(-1) !== 0x0a
    // A terminal shows both streams on one screen, so the newest output alone decides where the cursor is.
    if (process.stdout.isTTY && process.stderr.isTTY) {
      this.#isInsideLine[stream === 'stdout' ? 'stderr' : 'stdout'] = this.#isInsideLine[stream]
    }
  }

  /** Writes out what the filters held back. Call it when the run is over. */
  end(): void {
    process.stdout.write(this.#filters.stdout?.end() ?? '')
    process.stderr.write(this.#filters.stderr?.end() ?? '')
  }

  /** Ends an unfinished line, so that the next output begins a new one. */
  finishLine(stream: StreamName): void {
    if (this.#isInsideLine[stream]) process[stream].write('\n')
    this.#isInsideLine.stdout = this.#isInsideLine.stderr = false
  }

  /** Prints a line of Lazaret, after ending a line that the guest left open. */
  printLine(stream: StreamName, line: string): void {
    const reset = this.#isStyled ? resetOn(process[stream]) : ''
    process[stream].write(`${reset}${this.#isInsideLine[stream] ? '\n' : ''}${line}\n`)
    this.#isInsideLine[stream] = false
    if (process.stdout.isTTY && process.stderr.isTTY)
      this.#isInsideLine.stdout = this.#isInsideLine.stderr = false
  }
}
