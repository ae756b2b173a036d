/** The methods of a console, for any realm: each call becomes texts that are printed. */
import { uncurryThis } from '../../../core/primordials.ts'
import type { LogEntry } from '../../../core/output.ts'

export type Level = LogEntry['level']
export type Print = (level: Level, text: string) => void
export type Methods = Record<string, (...values: never[]) => void>

/** How values become text. */
export interface Texts {
  /** The text of one call's arguments. */
  readonly formatAll: (values: readonly unknown[]) => string
  readonly inspectWith: (value: unknown, options: object) => string
  /** `undefined` if the data is not a table. */
  readonly tableText: (data: unknown, properties: readonly string[] | undefined) => string | undefined
  /** A stack with this message that begins with the caller of `method`. */
  readonly traceText: (message: string, method: (...values: unknown[]) => void) => string
  /** Milliseconds. */
  readonly now: () => number
}

const groupIndent = '  '

const { assign } = Object
const LabelMap = Map<string, number>
const mapGet = uncurryThis(LabelMap.prototype.get)
const mapSet = uncurryThis(LabelMap.prototype.set)
const mapDelete = uncurryThis(LabelMap.prototype.delete)
const replaceAll = uncurryThis(String.prototype.replaceAll as (from: string, to: string) => string)

/** Gives `owner` every method that a console has. */
export function addMethods(owner: object, texts: Texts, write: Print): void {
  let indent = ''
  const print: Print = (level, text) =>
    write(level, indent === '' ? text : indent + replaceAll(text, '\n', `\n${indent}`))
  const group = (...values: unknown[]): void => {
    if (values.length > 0) print('log', texts.formatAll(values))
    indent += groupIndent
  }
  assign(owner, printers(print, texts), counters(print), timers(print, texts), {
    group,
    groupCollapsed: group,
    groupEnd() {
      indent = indent.slice(groupIndent.length)
    },
  })
}

function printers(print: Print, { formatAll, inspectWith, tableText, traceText }: Texts): Methods {
  return {
    log: (...values: unknown[]) => print('log', formatAll(values)),
    info: (...values: unknown[]) => print('info', formatAll(values)),
    debug: (...values: unknown[]) => print('debug', formatAll(values)),
    warn: (...values: unknown[]) => print('warn', formatAll(values)),
    error: (...values: unknown[]) => print('error', formatAll(values)),
    dirxml: (...values: unknown[]) => print('log', formatAll(values)),
    dir: (value: unknown, options?: object) =>
      print('log', inspectWith(value, { customInspect: false, ...options })),
    table: (data: unknown, properties?: readonly string[]) =>
      print('log', tableText(data, properties) ?? formatAll([data])),
    trace: function trace(...values: unknown[]) {
      print('error', traceText(formatAll(values), trace))
    },
    assert(isTrue: unknown, ...values: unknown[]) {
      if (isTrue) return
      if (typeof values[0] === 'string') values[0] = `Assertion failed: ${values[0]}`
      else values.unshift('Assertion failed')
      print('warn', formatAll(values))
    },
    // These act on a terminal or an inspector. A guest has neither.
    clear() {},
    profile() {},
    profileEnd() {},
    timeStamp() {},
  }
}

function counters(print: Print): Methods {
  const counts = new LabelMap()
  return {
    count(label: unknown = 'default') {
      const name = `${label as string}`
      const count = (mapGet(counts, name) ?? 0) + 1
      mapSet(counts, name, count)
      print('log', `${name}: ${count}`)
    },
    countReset(label: unknown = 'default') {
      const name = `${label as string}`
      if (!mapDelete(counts, name)) print('warn', `Warning: Count for '${name}' does not exist`)
    },
  }
}

function timers(print: Print, { formatAll, now }: Texts): Methods {
  const starts = new LabelMap()
  const show = (name: string, method: string, values: readonly unknown[]): void => {
    const start = mapGet(starts, name)
    if (start === undefined) return print('warn', `Warning: No such label '${name}' for console.${method}()`)
    // After an empty text, percent signs have no meaning.
    print('log', `${name}: ${durationText(now() - start)}${formatAll(['', ...values])}`)
  }
  return {
    time(label: unknown = 'default') {
      const name = `${label as string}`
      if (mapGet(starts, name) === undefined) mapSet(starts, name, now())
      else print('warn', `Warning: Label '${name}' already exists for console.time()`)
    },
    timeLog: (label: unknown = 'default', ...values: unknown[]) =>
      show(`${label as string}`, 'timeLog', values),
    timeEnd(label: unknown = 'default') {
      show(`${label as string}`, 'timeEnd', [])
      mapDelete(starts, `${label as string}`)
    },
  }
}

/** A duration as Node prints it: `1.5ms`, `2.500s`, `1:02.500 (m:ss.mmm)`. */
function durationText(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 1) return `${Number(ms.toFixed(3))}ms`
  if (seconds < 60) return `${seconds.toFixed(3)}s`
  const minutes = Math.floor(seconds / 60)
  return `${minutes}:${(seconds % 60).toFixed(3).padStart(6, '0')} (m:ss.mmm)`
}
