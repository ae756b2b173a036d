/**
 * The processor time of a test file: of its process and of all descendants. A test process prints it on standard
 * output, where the reporters read it.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** As `getconf CLK_TCK` has it on every Linux. */
const ticksPerSecond = 100
const msPerTick = 1000 / ticksPerSecond

interface Usage {
  readonly parent: number
  readonly ownTicks: number
  /** Of children that have ended and that the process has waited for. */
  readonly childrenTicks: number
}

/** The time of ended children of this process, and of theirs. */
export function endedChildrenMs(): number {
  return (usageOf('self')?.childrenTicks ?? 0) * msPerTick
}

/** The time of this process, of all that it has waited for, and of its descendants that are alive. */
export function usedHereMs(): number {
  const usages = new Map<number, Usage>()
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    const usage = usageOf(name)
    if (usage !== undefined) usages.set(Number(name), usage)
  }
  const family = new Set([process.pid])
  // The loop also visits what is added to the set meanwhile.
  for (const pid of family) for (const [child, { parent }] of usages) if (parent === pid) family.add(child)
  const ticks = [...family].map(
    (pid) => (usages.get(pid)?.ownTicks ?? 0) + (usages.get(pid)?.childrenTicks ?? 0),
  )
  return ticks.reduce((sum, one) => sum + one, 0) * msPerTick
}

/** Uses the stream of the reports: text written past it could land inside an unfinished report. */
export function sayProcessorTime(file: string, ms: number): void {
  process.stdout.write(`processors ${Math.round(ms)} ms: ${file}\n`)
}

/** Files and their times in what processes of tests have printed. */
export function readProcessorTimes(output: string): [file: string, ms: number][] {
  return [...output.matchAll(/^processors (\d+) ms: (.+)$/gm)].map(([, ms, file = '']) => [file, Number(ms)])
}

function usageOf(name: string): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    // The command, in parentheses, may have spaces in its name.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [parent = 0, user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = [1, 11, 12, 13, 14].map(
      (index) => fields[index],
    )
    return { parent, ownTicks: user + system, childrenTicks: childrenUser + childrenSystem }
  } catch {
    // It has ended.
    return undefined
  }
}
