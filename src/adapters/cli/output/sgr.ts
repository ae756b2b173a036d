/**
 * SGR, the sequences that choose colours and styles: which of them guest text may use on a terminal.
 *
 * The list says what is allowed. It leaves out 8, which conceals the text that follows; 5 and 6, which blink; and 10 to 20,
 * which choose fonts. On the Linux console, 11 and 12 choose a character mapping, which a reset does not undo.
 */

// The filter has removed all other forms.
// eslint-disable-next-line no-control-regex
const sequence = /\x1b\[([0-9;:]*)m/g

const allowed = /^(?:[0-4]|7|9|2[1-9]|3[0-79]|4[0-79]|53|55|59|9[0-7]|10[0-7]|4:[0-5])$/
/** A foreground, a background or an underline, as one parameter with parts or as several parameters. */
const extended = /^(?:38|48|58)$/
const extendedWithParts = /^(?:38|48|58):(?:5:\d{1,3}|2:(?:\d{0,3}:)?\d{1,3}:\d{1,3}:\d{1,3})$/
/** How many parameters follow: one for a palette's index, three for red, green and blue. */
const argumentsOf: Readonly<Record<string, number>> = { '5': 1, '2': 3 }

/** Removes from every sequence what is not allowed, and the whole sequence when nothing is left. */
export function allowStyles(text: string): string {
  return text.replace(sequence, (whole, parameters: string) => {
    // No parameter at all is the reset.
    if (parameters === '') return whole
    const kept = keepAllowed(parameters.split(';'))
    return kept.length === 0 ? '' : `\x1b[${kept.join(';')}m`
  })
}

function keepAllowed(parameters: readonly string[]): string[] {
  const kept: string[] = []
  for (let index = 0; index < parameters.length; index++) {
    const parameter = withoutZeros(parameters[index] ?? '')
    if (allowed.test(parameter) || extendedWithParts.test(parameter)) kept.push(parameter)
    if (!extended.test(parameter)) continue
    const count = argumentsOf[withoutZeros(parameters[index + 1] ?? '')]
    const colour = count === undefined ? [] : parameters.slice(index + 1, index + 2 + count)
    // Terminals disagree on how to go on after an incomplete colour, so the rest is dropped.
    if (count === undefined || colour.length !== 1 + count || !colour.every(isByte)) return kept
    kept.push(parameter, ...colour.map(withoutZeros))
    index += 1 + count
  }
  return kept
}

/** A terminal reads `08` as 8, and an empty parameter as 0. */
function withoutZeros(parameter: string): string {
  return parameter === '' ? '0' : parameter.replace(/^0+(?=\d)/, '')
}

function isByte(parameter: string): boolean {
  return /^\d+$/.test(parameter) && Number(parameter) <= 255
}
