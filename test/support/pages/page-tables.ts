/** Tables of pages that are generated from the code: `node test/support/pages/write-page-tables.ts` writes them. */
import { routes } from '../../../src/adapters/http/routes/all-routes.ts'
import { optionFlags } from '../../../src/adapters/cli/options/engine-flags.ts'
import { limitFlags } from '../../../src/adapters/cli/options/limit-flags.ts'
import { usualBounds } from '../../../src/adapters/http/bounds.ts'
import { createProgram } from '../../../src/adapters/cli/program.ts'
import { errorTable } from '../../../src/core/errors/errors.ts'
import { defaultLimits, limitNames, limitRanges } from '../../../src/core/limits.ts'
import type { LimitName } from '../../../src/core/limits.ts'
import { type OptionName, optionRows as engineOptions } from '../../../src/engine/options/option-table.ts'
import { heldByIsolate, limitMechanisms, threadGround } from '../../../src/jail/limits/plan-limits.ts'
import { readText } from '../sources/checkout.ts'

export interface PageTable {
  readonly page: string
  /** The heading above it. It is the first table below that heading. */
  readonly heading: string
  readonly rows: readonly string[]
}

/** All generated tables, from the current code. */
export function pageTables(): PageTable[] {
  return [
    { page: 'docs/reference/errors.md', heading: 'Errors', rows: errorRows() },
    { page: 'docs/reference/limits.md', heading: 'Values', rows: limitValueRows() },
    { page: 'docs/reference/limits.md', heading: 'What enforces each limit', rows: limitHolderRows() },
    { page: 'docs/operate/configuration.md', heading: 'Options', rows: engineOptionRows() },
    { page: 'docs/operate/http.md', heading: 'Routes', rows: routeRows() },
    { page: 'docs/operate/http.md', heading: 'Bounds', rows: boundRows() },
    { page: 'docs/operate/cli.md', heading: 'Commands', rows: commandRows() },
    { page: 'docs/operate/cli.md', heading: 'Options', rows: optionRows() },
  ]
}

/** The rows of the first table below a heading, without its header. */
export function rowsBelow(page: string, heading: string): string[] {
  const [, below = ''] = readText(page).split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [section = ''] = below.split(/^#/m)
  const lines = section.split('\n')
  const start = lines.findIndex((line) => line.startsWith('|'))
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return start < 0 ? [] : lines.slice(start + 2, end < 0 ? undefined : end)
}

export function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}

export const quote = (name: string | undefined): string => `\`${name}\``
const row = (...cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`

function errorRows(): string[] {
  return Object.entries(errorTable).map(([code, { kind, message, httpStatus, exitCode, retryable }]) =>
    row(quote(code), kind, message, httpStatus, exitCode, retryable ? 'yes' : 'no'),
  )
}

function routeRows(): string[] {
  return routes.map(({ method, path, scope, summary }) =>
    row(quote(`${method} ${path}`), quote(scope), summary),
  )
}

function boundRows(): string[] {
  return Object.entries(usualBounds).map(([name, value]) => row(quote(name), value))
}

function limitValueRows(): string[] {
  return limitNames.map((name) => {
    const { usual, least, most } = limitRanges[name]
    const range = `${formatLimit(name, least)} to ${formatLimit(name, most)}`
    const standing = usual === null ? 'none' : formatLimit(name, usual)
    return row(quote(name), describeLimit(name), standing, range)
  })
}

function limitHolderRows(): string[] {
  const strong = { level: 'strong', cgroupVersion: 1, identity: 'own' } as const
  const columns = [
    limitMechanisms(strong),
    limitMechanisms({ level: 'standard', cgroupVersion: null, identity: 'shared' }),
    limitMechanisms({ level: 'restricted', cgroupVersion: null, identity: 'shared' }),
    limitMechanisms(threadGround),
    heldByIsolate({ ...defaultLimits, cpuMs: 1, functionMs: 1 }, strong),
  ]
  return limitNames.map((name) => row(quote(name), ...columns.map((by) => quote(by[name]))))
}

const program = createProgram({
  signal: new AbortController().signal,
  duringRun: (work) => work(),
  warn: () => undefined,
  perform: async () => undefined,
})

function commandRows(): string[] {
  return program.commands.map((command) => row(quote(command.name()), command.description()))
}

/** Commands that give an option the same meaning share a row. */
function optionRows(): string[] {
  const commands = program.commands.flatMap((command) => [
    { name: command.name(), options: command.options },
    ...command.commands.map((one) => ({ name: `${command.name()} ${one.name()}`, options: one.options })),
  ])
  const found = commands.flatMap(({ name, options }) =>
    options.map(({ flags, description, argChoices = [], defaultValue, defaultValueDescription }) => {
      const choices = argChoices.length === 0 ? '' : `: ${argChoices.map(quote).join(', ')}`
      const standing =
        defaultValue === undefined ? '' : ` (default ${defaultValueDescription ?? String(defaultValue)})`
      return {
        command: name,
        flags: flags.replaceAll('|', '\\|'),
        text: `${description}${standing}${choices}`,
      }
    }),
  )
  const groups = [...Map.groupBy(found, ({ flags, text }) => `${flags} ${text}`).values()]
  return groups.map((same) =>
    row(quote(same[0]?.flags), same.map(({ command }) => quote(command)).join(', '), same[0]?.text),
  )
}

/** The JSDoc of the limit in `Limits`, up to its default. */
function describeLimit(name: LimitName): string {
  const source = readText('src/core/limits.ts')
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+readonly ${name}:`).exec(source)?.[1] ?? ''
  const text = comment.replace(/\s*\n\s*\*\s*/g, ' ').trim()
  return text.replace(/ Default [^]*$/, '')
}

/** Times in milliseconds, sizes in binary units where they are whole, and anything else as a number. */
function formatLimit(name: LimitName, value: number): string {
  if (name.endsWith('Ms')) return `${value.toLocaleString('en')} ms`
  if (!name.endsWith('Bytes')) return value.toLocaleString('en')
  const [unit, factor] = sizes.find(([, bytes]) => value > 0 && value % bytes === 0) ?? ['bytes', 1]
  return value === 1 ? '1 byte' : `${value / factor} ${unit}`
}

const sizes = [
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
] as const

/** Whether each option can be set in a configuration file or by a flag. */
function engineOptionRows(): string[] {
  return engineOptions.map(([name, { files }]) => {
    const inFile = files === 'none' ? 'no, it is code' : 'yes'
    const found = typeof files === 'string' ? 'refused' : files.allowed
    return row(quote(name), describeOption(name), inFile, found, flagsOf(name))
  })
}

/** The first sentence of its JSDoc. */
function describeOption(name: string): string {
  const source = readText('src/engine/options/options.ts')
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+readonly ${name}\\?:`).exec(source)?.[1] ?? ''
  const text = comment.replace(/\s*\n\s*\*\s*/g, ' ').trim()
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? `no documentation of ${name}`
}

function flagsOf(name: OptionName): string {
  const flags =
    name === 'defaults'
      ? Object.keys(limitFlags)
      : Object.entries(optionFlags).flatMap(([flag, { option }]) => (option === name ? [flag] : []))
  return flags.length === 0 ? '—' : flags.map((flag) => `\`--${flag}\``).join(', ')
}
