/** The values of the enumeration constants of `native/cell`, by `file: NAME`. */
import { listFiles, readText } from './checkout.ts'

interface Enumerator {
  readonly file: string
  readonly name: string
  /** The expression as written; undefined if the value is that of `previous` plus one. */
  readonly expression: string | undefined
  readonly previous: Enumerator | undefined
}

export function launcherConstants(): ReadonlyMap<string, number> {
  const all = listFiles('native/cell', ['.c', '.h']).flatMap(readEnumerators)
  return new Map(all.map((one) => [`${one.file}: ${one.name}`, valueOf(one, all)]))
}

function readEnumerators(file: string): Enumerator[] {
  const source = readText(file).replaceAll(/\/\*[^]*?\*\//g, '')
  const found: Enumerator[] = []
  for (const [, body = ''] of source.matchAll(/\benum(?: \w+)? \{([^}]*)\}/g)) {
    let previous: Enumerator | undefined
    for (const entry of body.split(',')) {
      const [name = '', expression] = entry.split('=').map((part) => part.trim())
      if (name === '') continue
      previous = { file, name, expression, previous }
      found.push(previous)
    }
  }
  return found
}

/**
 * Names refer to the same file first. NaN if the expression has anything but numbers, names, sums, products and shifts.
 */
function valueOf({ file, expression, previous }: Enumerator, all: readonly Enumerator[]): number {
  if (expression === undefined) return previous === undefined ? 0 : valueOf(previous, all) + 1
  const numbers = expression.replaceAll(/[A-Z]\w+/g, (name) => {
    const same = all.filter((one) => one.name === name)
    const match = same.find((one) => one.file === file) ?? same[0]
    return String(match === undefined ? Number.NaN : valueOf(match, all))
  })
  return /^[\d\s()+*<]+$/.test(numbers) ? compute(numbers) : Number.NaN
}

/** Products before sums before shifts, as in C. */
function compute(text: string): number {
  const inner = /\(([^()]*)\)/.exec(text)
  if (inner !== null) return compute(text.replace(inner[0], String(compute(inner[1] ?? ''))))
  const [first = Number.NaN, ...shifts] = text.split('<<').map((sum) =>
    sum
      .split('+')
      .map((product) => product.split('*').reduce((result, factor) => result * Number(factor), 1))
      .reduce((result, term) => result + term, 0),
  )
  return shifts.reduce((result, bits) => result * 2 ** bits, first)
}
