/** What is looked for after a host process was killed: at once, and after the next host's start. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { listChildren } from './adopted-host.ts'
import type { AdoptedHost } from './adopted-host.ts'
import { listCgroups } from '../machine/leaks.ts'
import { readPidNamespace } from '../machine/processes.ts'
import type { HostProcess } from '../machine/processes.ts'

/** Everything of a host ends with it: within this time, however busy the machine. */
export const deadMs = 1000

/** The same pid in another one is somebody else's. */
const ownPidNamespace = /\d+/.exec(readPidNamespace('self') ?? '')?.[0]

/** Paths of a host's cgroups and of its folders. */
export function groupsOf(pid: number): RegExp {
  return new RegExp(`/lazaret-${ownPidNamespace}-${pid}-\\d+-\\d+(/|$)`)
}

/** How long after its kill the last process of a host had ended, in milliseconds. Throws when one is still there. */
export async function untilAlone(host: AdoptedHost): Promise<number> {
  const late = Promise.withResolvers<number>()
  const timer = setTimeout(() => late.resolve(Number.NaN), deadMs)
  const aloneUs = await Promise.race([host.alone, late.promise])
  clearTimeout(timer)
  if (!Number.isNaN(aloneUs)) return aloneUs / 1000
  const left = listTree(host.adopterPid).map(describeProcess)
  throw new Error(`${deadMs} ms after its host was killed there is still: ${left.join(', ')}`)
}

/**
 * What is in the folders of a dead host's runs. The folders themselves are the next host's to remove: a launcher that
 * has given up root may not.
 */
export function listRunFiles(pid: number, temporary: string): string[] {
  const own = readdirSync(temporary).filter((name) => groupsOf(pid).test(`/${name}`))
  const runs = own.flatMap((name) => listFolder(join(temporary, name)))
  return runs.flatMap(listFolder)
}

/** Cgroups and folders of dead hosts, which the next Lazaret takes away. */
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

/** Gone meanwhile, or not for us to see into: then it is empty as far as we know. */
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
