/**
 * Guest text on the way to a terminal.
 *
 * A terminal obeys escape sequences: they can change its title, fill the clipboard, make it answer as if the user had
 * typed, or hide what was printed. So on a terminal a guest may use newlines, tabs, carriage returns and colours
 * (`sgr.ts`). Every other control character is shown as a symbol (`␛]0;title␇`) and has no effect. The guest's style is
 * reset before Lazaret's own text. Pipes and files get the guest's bytes unchanged.
 */
import { allowStyles } from './sgr.ts'

// The last range has the C1 controls: a terminal may read U+009B as the start of a sequence.
// eslint-disable-next-line no-control-regex
const dangerous = /\x1b(?!\[[0-9;:]{0,32}m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g
// A sequence that the end of a chunk cut in two. It is held back until the next chunk completes it.
// eslint-disable-next-line no-control-regex
const unfinished = /\x1b(?:\[[0-9;:]{0,32})?$/

const reset = '\x1b[0m'

/** Text that arrives in chunks, made safe to show. */
export class TerminalFilter {
  #waiting = ''
  #hasStyle = false

  push(text: string): string {
    const whole = this.#waiting + text
    const cut = whole.search(unfinished)
    const ready = cut === -1 ? whole : whole.slice(0, cut)
    this.#waiting = cut === -1 ? '' : whole.slice(cut)
    const shown = showControls(ready)
    this.#hasStyle ||= shown.includes('\x1b')
    return shown
  }

  /** What was held back, and a reset of the guest's style. */
  end(): string {
    const rest = showControls(this.#waiting)
    this.#waiting = ''
    return this.#hasStyle ? `${rest}${reset}` : rest
  }
}

/** A complete guest text for a terminal, with a reset of its style. */
export function showWhole(text: string): string {
  const filter = new TerminalFilter()
  return filter.push(text) + filter.end()
}

/** Shows every control character but tab, newline, return and colours as a symbol. */
export function showControls(text: string): string {
  return allowStyles(text.replace(dangerous, picture))
}

/**
 * Precedes a line of Lazaret on a terminal that a guest's bytes may have reached past the filter, through a pipe that
 * another program shows.
 */
export function resetOn(stream: { readonly isTTY?: boolean }): string {
  return stream.isTTY === true && process.env['TERM'] !== 'dumb' ? reset : ''
}

/** Guest text for a line that Lazaret prints: one line, no controls, no change of writing direction, bounded. */
export function toSingleLine(text: string, lengthMax = 400): string {
  const line = text
    .slice(0, lengthMax)
    // eslint-disable-next-line no-control-regex
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim()
  return text.length > lengthMax ? `${line}…` : line
}

function picture(control: string): string {
  const code = control.charCodeAt(0)
  // From U+2400 on there is a symbol for each C0 control; U+2421 is for delete. The C1 controls have none.
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : '\ufffd'
}
