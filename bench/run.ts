/** `npm run bench`: Lazaret and its rivals in turn, in one process. `--help` lists the options. */
import { loadavg } from 'node:os'

import { formatHost, formatTable } from './format.ts'
import { lookAtHost } from './measure/host-facts.ts'
import { isInterrupted, listenForInterruption } from './measure/interruption.ts'
import { parseCommandLine, usage, UsageError } from './options.ts'
import type { CommandLine } from './options.ts'
import { runSection } from './sections.ts'
import { failedTable } from './table.ts'
import type { Table } from './table.ts'

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  try {
    const commandLine = parseCommandLine(args)
    if (commandLine.isHelp) {
      process.stdout.write(usage)
      return 0
    }
    listenForInterruption()
    return await measure(commandLine)
  } catch (error) {
    if (isInterrupted()) return 130
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n\n${usage}`)
    return 2
  }
}

/** A failure in one section does not affect the others. */
function reportFailure(name: string, error: Error): Table[] {
  if (isInterrupted()) throw error
  process.stderr.write(`${error.stack ?? error.message}\n`)
  return [failedTable(name, error)]
}

async function measure({ only, isJson, ...options }: CommandLine): Promise<number> {
  const startMs = performance.now()
  const host = await lookAtHost()
  if (!isJson) process.stdout.write(formatHost(host))
  const sections = []
  for (const name of only) {
    const tables = await runSection(name, options).catch((error: Error) => reportFailure(name, error))
    sections.push({ name, tables })
    if (!isJson) for (const table of tables) process.stdout.write(formatTable(table))
  }
  const tables = sections.flatMap((section) => section.tables)
  const wrong = tables.flatMap((table) => table.wrong)
  const [loadAfter = 0] = loadavg()
  const seconds = Math.round((performance.now() - startMs) / 1000)
  if (isJson) {
    const document = { host: { ...host, loadAfter }, options, seconds, sections, wrong }
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
  } else {
    const goals = tables.flatMap((table) => table.goals)
    const met = goals.filter(({ isMet }) => isMet).length
    const wrongs =
      wrong.length === 0 ? 'no run refused or wrong' : `${wrong.length} or more runs refused or WRONG`
    process.stdout.write(
      `\n${met} of ${goals.length} goals met, ${wrongs}; ${seconds} s, load ${loadAfter.toFixed(2)} at the end\n`,
    )
  }
  return wrong.length > 0 ? 1 : 0
}
