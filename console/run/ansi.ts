/** Terminal colours in guest text: they become class names, and every other escape sequence is removed. */

export interface Styled {
  readonly text: string
  readonly className: string
}

const escape = '\u001B'
const bell = '\u0007'

/** Complete sequences: CSI, OSC, and those of two characters. */
const sequence = new RegExp(
  `${escape}(?:\\[([0-9;:?<=>]*)([ -/]*[@-~])|\\][^${bell}${escape}]{0,4096}(?:${bell}|${escape}\\\\)|[^[\\]])`,
  'g',
)
/** The beginning of a sequence that is not complete yet. */
const beginning = new RegExp(
  `${escape}(?:\\[[0-9;:?<=>]{0,64}[ -/]{0,8}|\\][^${bell}${escape}]{0,4096}${escape}?)?$`,
)
/** Other control characters are removed. */
const control = /(?![\n\t])\p{Cc}/gu

export class Colours {
  #held = ''
  #bold = false
  #dim = false
  #colour: string | undefined

  read(piece: string): Styled[] {
    const text = this.#held + piece
    this.#held = beginning.exec(text)?.[0] ?? ''
    const whole = text.slice(0, text.length - this.#held.length)
    const styled: Styled[] = []
    let from = 0
    for (const match of whole.matchAll(sequence)) {
      this.#add(styled, whole.slice(from, match.index))
      if (match[2] === 'm') this.#apply(match[1] ?? '')
      from = match.index + match[0].length
    }
    this.#add(styled, whole.slice(from))
    return styled
  }

  #add(styled: Styled[], raw: string): void {
    const text = raw.replaceAll('\r\n', '\n').replace(control, '')
    if (text === '') return
    const names = [
      this.#bold && 'bold',
      this.#dim && 'dim',
      this.#colour !== undefined && `ansi-${this.#colour}`,
    ]
    styled.push({ text, className: names.filter((name) => name !== false).join(' ') })
  }

  #apply(parameters: string): void {
    for (const one of parameters.split(';').slice(0, 32).map(Number)) {
      if (one === 0) [this.#bold, this.#dim, this.#colour] = [false, false, undefined]
      else if (one === 1) this.#bold = true
      else if (one === 2) this.#dim = true
      else if (one === 22) [this.#bold, this.#dim] = [false, false]
      else if (one === 39) this.#colour = undefined
      else if (one >= 30 && one <= 37) this.#colour = String(one - 30)
      else if (one >= 90 && one <= 97) this.#colour = String(one - 90)
      // The page does not support 256 colours or true colours.
      else if (one === 38 || one === 48) return
    }
  }
}
