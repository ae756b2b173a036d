/**
 * Formats values as Node prints them, in every runtime. Bun needs several milliseconds to load its `node:util`, so the
 * module is loaded when the first value is printed that is not a simple primitive. Guest code that has patched the realm
 * by then affects only its own texts.
 */
import { integerText } from '../../../core/values/encode-leaf.ts'
import { apply, messageOf, stringCodeAt, stringIncludes } from '../../../core/primordials.ts'

interface Util {
  readonly inspect: (value: unknown, options?: object) => string
  readonly format: (...rest: unknown[]) => string
}

const getBuiltinModule = process.getBuiltinModule.bind(process)
// Longer strings are left to `inspect`, which truncates them.
const simpleStringMax = 1000
let loaded: Util | undefined

function util(): Util {
  if (loaded === undefined) {
    const { inspect, format } = getBuiltinModule('node:util')
    loaded = { inspect, format }
  }
  return loaded
}

// In Node the module is already loaded. Taking its function now protects it from guest code.
if (process.versions['bun'] === undefined) util()

/** The text of `value` as the REPL prints it, or `fallback` when the value's own code throws. */
export function inspectValue(value: unknown, fallback?: string): string {
  try {
    return primitiveText(value, quoted) ?? util().inspect(value)
  } catch (thrown) {
    return fallback ?? `[cannot be shown: ${messageOf(thrown)}]`
  }
}

/** Works like `util.inspect`, which throws what the value's own code throws. */
export function inspectWith(value: unknown, options: object): string {
  return util().inspect(value, options)
}

/** What `console.log` prints for these arguments. Throws what the values' own code throws. */
export function formatAll(values: readonly unknown[]): string {
  const first = values[0]
  if (values.length > 1 && typeof first === 'string' && stringIncludes(first, '%')) return format(values)
  let line = ''
  for (let index = 0; index < values.length; index++) {
    const text = primitiveText(values[index], (bare) => bare)
    if (text === undefined) return format(values)
    line += index === 0 ? text : ` ${text}`
  }
  return line
}

const format = (values: readonly unknown[]): string => apply(util().format, undefined, values)

/** `undefined` for values that only `inspect` can format. */
function primitiveText(value: unknown, stringText: (text: string) => string | undefined): string | undefined {
  switch (typeof value) {
    case 'string':
      return stringText(value)
    case 'number':
      return value === 0 && 1 / value < 0 ? '-0' : `${value}`
    case 'boolean':
    case 'undefined':
      return `${value}`
    case 'bigint':
      return `${integerText(value)}n`
    default:
      return value === null ? 'null' : undefined
  }
}

function quoted(text: string): string | undefined {
  if (text.length > simpleStringMax) return undefined
  for (let index = 0; index < text.length; index++) {
    const code = stringCodeAt(text, index)
    const isSimple = code >= 0x20 && code < 0x7f && code !== 0x27 && code !== 0x5c
    if (!isSimple) return undefined
  }
  return `'${text}'`
}
