/**
 * How much of the machine other programs use. The kernel may divide processor time by session (sched_autogroup)
 * or by cgroup. Cells have their own of both and rivals do not, so beside other work rivals get a smaller share.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Processes that the benchmark has just started, and that are ending now, must not count as other work. */
const calmMs = 30
/** A tick is 10 ms of one core, so a shorter measurement could not resolve a share of a tenth. */
const sampleMs = 120
/** Above this share there is no winner. */
export const otherWorkMax = 0.1

/** From 0 to 1, while the benchmark itself does nothing. */
export async function sampleOtherWork(): Promise<number> {
  await pause(calmMs)
  const before = readTicks()
  await pause(sampleMs)
  const after = readTicks()
  const all = after.all - before.all
  return all === 0 ? 0 : 1 - (after.idle - before.idle) / all
}

/** See proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. The later fields are included in these. */
function readTicks(): { readonly all: number; readonly idle: number } {
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = first
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return { all: user + nice + system + idle + iowait + irq + softirq + steal, idle: idle + iowait }
}
