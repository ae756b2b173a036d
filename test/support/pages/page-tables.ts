/** Tables of pages, and columns of tables, that are generated from the code: `node test/support/pages/write-page-tables.ts` writes them. */
import { inspect } from 'node:util'
import { subprocessDefaults } from '../../../src/adapters/agent/subprocess-executor.ts'
import { counts } from '../../../src/adapters/code-execution/read-options.ts'
import { bridgeCallsUsual, memories, timeouts } from '../../../src/adapters/code-execution/read-params.ts'
import { exitCodes as snippetExitCodes } from '../../../src/adapters/cli/commands/snippet-command.ts'
import { cannotCreateExitCode } from '../../../src/adapters/cli/output/write-outputs.ts'
import { stallMs } from '../../../src/adapters/http/body.ts'
import { requestsPerClientMax } from '../../../src/adapters/http/open-requests.ts'
import { messageMost } from '../../../src/adapters/http/read-json.ts'
import { routes } from '../../../src/adapters/http/routes/all-routes.ts'
import {
  batchLengthMax,
  bodyBytesMax,
  connectionsMax,
  requestMs,
} from '../../../src/adapters/mcp/serve-http.ts'
import { messageBytesMax } from '../../../src/adapters/mcp/stdio-lines.ts'
import { snippetLimits } from '../../../src/adapters/snippet-tool/parse-snippet.ts'
import { optionFlags } from '../../../src/adapters/cli/options/engine-flags.ts'
import { limitFlags } from '../../../src/adapters/cli/options/limit-flags.ts'
import { usualBounds } from '../../../src/adapters/http/bounds.ts'
import {
  createProgram,
  outputClosedExitCode,
  outputFailedExitCode,
} from '../../../src/adapters/cli/program.ts'
import { errorTable } from '../../../src/core/errors/errors.ts'
import { defaultLimits, limitNames, limitRanges } from '../../../src/core/limits.ts'
import type { LimitName } from '../../../src/core/limits.ts'
import { type OptionName, optionRows as engineOptions } from '../../../src/engine/options/option-table.ts'
import { heldByIsolate, limitMechanisms, threadGround } from '../../../src/jail/limits/plan-limits.ts'
import { breakerDefaults } from '../../../src/policy/circuit-breaker.ts'
import { queueDefaults } from '../../../src/policy/execution-pool.ts'
import { rateDefaults } from '../../../src/policy/rate-limiter.ts'
import { retryDefaults } from '../../../src/policy/retry.ts'
import { resolveRoom } from '../../../src/policy/room-size.ts'
import { formsOfFile } from '../../../src/runtimes/collect/collect-files.ts'
import { formsOfMessage, freeMessageBytes } from '../../../src/runtimes/channel/channel.ts'
import { heldPerByte } from '../../../src/result/capture.ts'
import { waitingBytesMax } from '../../../src/result/delivery.ts'
import { batchBytesMax } from '../../../src/sandbox/processes/log-batch.ts'
import { endedBytesMax } from '../../../src/sandbox/processes/log-room.ts'
import { keptBytesMax } from '../../../src/sandbox/processes/log-stream.ts'
import { history, readersMax, runningMax } from '../../../src/sandbox/processes/process-table.ts'
import { resourceLimits, threadsMax } from '../../../src/sandbox/processes/search-threads.ts'
import { sandboxDefaults } from '../../../src/policy/sandbox-limits.ts'
import { parkedMax, poolsMax, shrinkEveryMs } from '../../../src/pool/pools.ts'
import { defaultPoolSize } from '../../../src/pool/shape.ts'
import { ageMsMax, forksMax } from '../../../src/pool/zygotes.ts'
import { timeoutMsDefault } from '../../../src/sandbox/commands/exec.ts'
import { differences } from '../../differential/differences.ts'
import { readText } from '../sources/checkout.ts'

export interface PageTable {
  readonly page: string
  /** The heading above it. It is the first table below that heading. */
  readonly heading: string
  readonly rows: readonly string[]
}

/** Cells of a table whose other cells are written by hand. */
export interface PageColumn {
  readonly page: string
  /** The heading above the table. It is the first table below that heading with such a column. */
  readonly heading: string
  /** The column's header. */
  readonly column: string
  /** By the first name in backticks in the row. */
  readonly cells: Readonly<Record<string, string>>
}

/** All generated tables, from the current code. */
export function pageTables(): PageTable[] {
  return [
    { page: 'docs/reference/errors.md', heading: 'Errors', rows: errorRows() },
    { page: 'docs/reference/limits.md', heading: 'Values', rows: limitValueRows() },
    { page: 'docs/reference/limits.md', heading: 'What enforces each limit', rows: limitHolderRows() },
    { page: 'docs/reference/errors.md', heading: 'Other exit codes', rows: exitCodeRows() },
    {
      page: 'docs/reference/compatibility.md',
      heading: 'The same in every way to run it',
      rows: differences.map(({ ways, engines, what, reason }) =>
        row(ways.join(', '), engines.join(', '), what, reason),
      ),
    },
    { page: 'docs/operate/mcp.md', heading: 'Bounds', rows: mcpBoundRows() },
    { page: 'docs/operate/warm-runs.md', heading: 'Bounds', rows: poolBoundRows() },
    { page: 'docs/operate/configuration.md', heading: 'Options', rows: engineOptionRows() },
    { page: 'docs/operate/policy.md', heading: 'What clients make this process hold', rows: heldRows() },
    { page: 'docs/operate/http.md', heading: 'Routes', rows: routeRows() },
    { page: 'docs/operate/http.md', heading: 'Bounds', rows: boundRows() },
    { page: 'docs/operate/cli.md', heading: 'Commands', rows: commandRows() },
    { page: 'docs/operate/cli.md', heading: 'Options', rows: optionRows() },
  ]
}

/** All generated columns, from the current code. */
export function pageColumns(): PageColumn[] {
  const { waitingMax, waitMs } = resolveRoom({}, () => 0)
  const { failureShareMax, resultsMax, resultsMin, coolDownMs } = breakerDefaults
  const snippets = { page: 'docs/guide/snippets.md', heading: 'The request' }
  const isolates = 'docs/guide/isolates.md'
  return [
    {
      page: 'docs/operate/policy.md',
      heading: 'How much runs at one time',
      column: 'Default',
      cells: { waitingMax: figure(waitingMax), waitMs: formatMs(waitMs) },
    },
    {
      page: 'docs/operate/policy.md',
      heading: 'How often, and after failures',
      column: 'Default',
      cells: {
        failureShareMax: figure(failureShareMax),
        resultsMax: figure(resultsMax),
        resultsMin: figure(resultsMin),
        coolDownMs: formatMs(coolDownMs),
      },
    },
    {
      page: 'docs/guide/sandboxes.md',
      heading: 'Limits',
      column: 'Default here',
      cells: {
        memoryBytes: formatBytes(sandboxDefaults.memoryBytes),
        processesMax: figure(sandboxDefaults.processesMax),
        openFilesMax: figure(sandboxDefaults.openFilesMax),
        diskBytes: formatBytes(sandboxDefaults.diskBytes),
        outputBytes: formatBytes(defaultLimits.outputBytes),
        timeout: formatMs(timeoutMsDefault),
      },
    },
    {
      ...snippets,
      column: 'Default',
      cells: {
        'limits.wall_ms': figure(snippetLimits.wall_ms.usual),
        'limits.output_kb': figure(snippetLimits.output_kb.usual),
      },
    },
    {
      ...snippets,
      column: 'At most',
      cells: {
        'limits.wall_ms': figure(snippetLimits.wall_ms.max),
        'limits.output_kb': figure(snippetLimits.output_kb.max),
      },
    },
    {
      page: isolates,
      heading: 'The service',
      column: 'Default',
      cells: {
        timeoutSeconds: formatRange(timeouts),
        memoryLimitMB: formatRange(memories),
        maxBridgeCalls: figure(bridgeCallsUsual),
      },
    },
    {
      page: isolates,
      heading: 'Options',
      column: 'Default',
      cells: Object.fromEntries(Object.entries(counts).map(([name, { usual }]) => [name, figure(usual)])),
    },
    {
      page: 'docs/guide/agent-executor.md',
      heading: 'What happens to an execution',
      column: 'Default',
      cells: {
        ...Object.fromEntries(
          Object.entries(subprocessDefaults).map(([name, value]) => [name, figure(value)]),
        ),
        rate: formatOption(rateDefaults),
        queue: formatOption(queueDefaults),
        retry: formatOption(retryDefaults),
      },
    },
  ]
}

/** The text of a page with the cells of a generated column. Throws if a row is missing. */
export function withColumn(text: string, { page, heading, column, cells }: PageColumn): string {
  const lines = text.split('\n')
  const below = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  const head = lines.findIndex(
    (line, index) => index > below && line.startsWith('|') && cellsOf(line).includes(column),
  )
  const end = lines.findIndex((line, index) => index > head && !line.startsWith('|'))
  const next = lines.findIndex((line, index) => index > below && line.startsWith('#'))
  if (below < 0 || head < 0 || (next >= 0 && next < head))
    throw new Error(`${page}, ${heading}: no table has the column ${column}`)
  const at = cellsOf(lines[head] ?? '').indexOf(column)
  const missing = new Set(Object.keys(cells))
  for (let index = head + 2; index < end; index++) {
    const row = cellsOf(lines[index] ?? '')
    const [, name = ''] = /`([^`]+)`/.exec(row[0] ?? '') ?? []
    const cell = cells[name]
    if (cell === undefined) continue
    missing.delete(name)
    lines[index] = `|${row
      .with(at, cell)
      .map((one) => (one === '' ? ' ' : ` ${one} `))
      .join('|')}|`
  }
  if (missing.size > 0) throw new Error(`${page}, ${heading}: no row for ${[...missing].join(', ')}`)
  return lines.join('\n')
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

function exitCodeRows(): string[] {
  const { exitCode: usage } = errorTable.INVALID_REQUEST
  const { exitCode: unavailable } = errorTable.JAIL_UNAVAILABLE
  return [
    row(snippetExitCodes.failed, '`lazaret snippet`: the program failed, or a limit ended it'),
    row(snippetExitCodes.invalid, '`lazaret snippet`: the request is invalid'),
    row(usage, 'a mistake on the command line or in a configuration file'),
    row(unavailable, '`lazaret doctor`: the level is below `--minimum`; any command: Node is too old'),
    row(outputFailedExitCode, 'standard output could not be written'),
    row(cannotCreateExitCode, 'the program succeeded, but a file could not be written to `--output-dir`'),
    row(outputClosedExitCode, 'the reader of standard output closed it'),
  ]
}

function mcpBoundRows(): string[] {
  return [
    row('one body', formatBytes(bodyBytesMax)),
    row('messages of one body', figure(batchLengthMax)),
    row('lists and objects in one body', figure(messageMost.containers)),
    row('different keys in one body', figure(messageMost.keys)),
    row('members of lists and objects in one body', figure(messageMost.members)),
    row('one message over stdio', formatBytes(messageBytesMax)),
    row('connections', figure(connectionsMax)),
    row('requests of a client at one time', figure(requestsPerClientMax)),
    row('time for a request to arrive', formatMs(requestMs)),
    row('time in which a client must read some of its answer', formatMs(stallMs)),
  ]
}

function poolBoundRows(): string[] {
  return [
    row('workers of a pool, unless `pools` names another `max`', figure(defaultPoolSize.max)),
    row('idle workers of all pools', figure(parkedMax)),
    row('pools', figure(poolsMax)),
    row('half of the unused workers are released every', formatMs(shrinkEveryMs)),
    row('forks of a zygote', figure(forksMax)),
    row('age of a zygote', formatMs(ageMsMax)),
  ]
}

function heldRows(): string[] {
  const { followers, searches } = readersMax
  const ended = `${figure(history.max)}, with ${figure(history.charactersMax)} characters of commands`
  const mebibytes = resourceLimits.maxOldGenerationSizeMb + resourceLimits.maxYoungGenerationSizeMb
  return [
    row('output that is kept for a result', `${heldPerByte} bytes for each`, 'yes'),
    row(
      'value, displays and console logs that are kept for a result',
      `${formsOfMessage} bytes for each`,
      'yes',
    ),
    row('files that are collected', `${formsOfFile} bytes for each`, 'yes'),
    row(
      'message of a guest that is not kept',
      `while it is received: ${formsOfMessage} bytes for each`,
      `above ${formatBytes(freeMessageBytes)}`,
    ),
    row('log of a process', `${formatBytes(keptBytesMax)} of each stream`, 'yes'),
    row('logs of the ended processes of a sandbox', formatBytes(endedBytesMax), 'yes'),
    row('running processes of a sandbox', figure(runningMax), 'their commands'),
    row('processes of a sandbox that are remembered', ended, 'no'),
    row(
      'followers of the logs of a sandbox',
      `${figure(followers)}, each with ${formatBytes(batchBytesMax)} and their text`,
      'yes',
    ),
    row('`waitForLog()` in a sandbox', `${figure(searches)}, without bytes until its turn`, 'no'),
    row('threads that search', `${threadsMax}, each with ${mebibytes} MiB of heap`, 'no'),
    row('output that a slow `onOutput` has not taken', formatBytes(waitingBytesMax), 'no'),
  ]
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
  if (name.endsWith('Ms')) return formatMs(value)
  return name.endsWith('Bytes') ? formatBytes(value) : figure(value)
}

const figure = (value: number): string => value.toLocaleString('en')
const formatMs = (value: number): string => `${figure(value)} ms`

function formatBytes(value: number): string {
  const [unit, factor] = sizes.find(([, bytes]) => value > 0 && value % bytes === 0) ?? ['bytes', 1]
  return value === 1 ? '1 byte' : `${value / factor} ${unit}`
}

const formatOption = (value: object): string => quote(inspect(value, { numericSeparator: true }))

const formatRange = ({ usual, least, most }: typeof timeouts): string =>
  `${figure(usual)}; ${figure(least)} to ${figure(most)}`

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
