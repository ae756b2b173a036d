/**
 * Guest text on the way to a terminal.
 *
 * A terminal obeys what it is sent: it can be made to retitle its window, fill the clipboard, answer as if the user had
 * typed, or hide what was printed. So on a terminal a guest may move to the next line, tab, return and choose
 * colours (`sgr.ts`); every other control character is shown as a picture (`␛]0;title␇`) and does nothing. Whatever
 * style the guest left on ends before our own text. Into a pipe or a file the guest's bytes go unchanged.
 */
import { allowStyles } from './sgr.ts'

// What matters in the second half are the C1 controls: a terminal may read U+009B as the start of a sequence.
// eslint-disable-next-line no-control-regex
const dangerous = /\x1b(?!\[[0-9;:]{0,32}m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g
// A colour that the end of a chunk cut in two: it waits for the next chunk to show what it is.
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

  /** What was held back, and an end to the styles that the guest left on. */
  end(): string {
    const rest = showControls(this.#waiting)
    this.#waiting = ''
    return this.#hasStyle ? `${rest}${reset}` : rest
  }
}

/** A whole text of a guest's for a terminal, with an end to its styles. */
export function showWhole(text: string): string {
  const filter = new TerminalFilter()
  return filter.push(text) + filter.end()
}

/** Every control character but tab, newline, return and colours, as a picture. */
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
  // U+2400 onwards holds a picture of each C0 control; U+2421 is delete. The C1 controls have none.
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : '\ufffd'
}
