/** What tests look for after they have killed a host process: at once, and after the next host's start. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { listChildren } from './adopted-host.ts'
import type { AdoptedHost } from './adopted-host.ts'
import { listCgroups } from '../machine/leaks.ts'
import { isDying, readPidNamespace } from '../machine/processes.ts'
import type { HostProcess } from '../machine/processes.ts'

/** All processes of a host must be dying within this time after it, however busy the machine is. */
export const deadMs = 1000
/** Until then they must have ended, and what they held must be gone. */
export const goneMs = 20_000

/** The same pid in another pid namespace is a different process. */
const ownPidNamespace = /\d+/.exec(readPidNamespace('self') ?? '')?.[0]

/** Matches the paths of a host's cgroups and folders. */
export function groupsOf(pid: number): RegExp {
  return new RegExp(`/lazaret-${ownPidNamespace}-${pid}-\\d+-\\d+(/|$)`)
}

/**
 * The time from a host's kill until its last process had ended, in milliseconds. Throws if one is still alive at the
 * deadline.
 */
export async function untilAlone(host: AdoptedHost): Promise<number> {
  const killedAt = performance.now()
  for (const [ms, counts] of [
    [deadMs, (one: HostProcess) => !isDying(one)],
    [goneMs, () => true],
  ] as const) {
    const late = Promise.withResolvers<number>()
    const timer = setTimeout(() => late.resolve(Number.NaN), killedAt + ms - performance.now())
    const aloneUs = await Promise.race([host.alone, late.promise])
    clearTimeout(timer)
    if (!Number.isNaN(aloneUs)) return aloneUs / 1000
    const left = listTree(host.adopterPid).filter(counts).map(describeProcess)
    if (left.length > 0)
      throw new Error(`${ms} ms after its host was killed there is still: ${left.join(', ')}`)
  }
  return goneMs
}

/**
 * The contents of the folders of a dead host's runs. The next host removes the folders themselves: a launcher that has
 * given up root may not.
 */
export function listRunFiles(pid: number, temporary: string): string[] {
  const own = readdirSync(temporary).filter((name) => groupsOf(pid).test(`/${name}`))
  const runs = own.flatMap((name) => listFolder(join(temporary, name)))
  return runs.flatMap(listFolder)
}

/** Cgroups and folders of dead hosts, which the next Lazaret removes. */
export function listUnswept(dead: readonly number[], temporary: string): string[] {
  const groups = dead.flatMap((pid) => listCgroups(groupsOf(pid)))
  const folders = readdirSync(temporary).filter((name) => dead.some((pid) => groupsOf(pid).test(`/${name}`)))
  return [...groups, ...folders]
}

export function listCellMounts(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return lines.filter((line) => /lazaret|\/run\/guest| - (tmpfs|devpts|proc) /.test(line))
}

/** Without `ancestor` itself. */
export function listTree(ancestor: number): HostProcess[] {
  return listChildren(ancestor).flatMap((child) => [child, ...listTree(child.pid)])
}

export function describeProcess({ pid, name, state, pids }: HostProcess): string {
  return `process ${pid} (${name}, ${state}, ${pids.join('/')}, ${readArguments(pid)})`
}

/** Empty if it has been removed meanwhile, or may not be listed. */
function listFolder(path: string): string[] {
  try {
    return readdirSync(path).map((name) => join(path, name))
  } catch {
    return []
  }
}

function readArguments(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').slice(0, 100)
  } catch {
    return 'gone'
  }
}
