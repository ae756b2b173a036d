/** Finds out, by trying, whether and where this process may create cgroups; removes what dead hosts left behind. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { isLeftBehind, nameOfThisHost } from '../machine/host-identity.ts'
import type { CgroupController, CgroupParent } from './cgroup.ts'
import { removeGroup } from './files.ts'
import { openVersion1 } from './version-1.ts'
import type { Hierarchies } from './version-1.ts'
import { openVersion2 } from './version-2.ts'

export type CgroupAnswer =
  /** `sweptHosts` is the number of dead hosts whose groups have been removed. */
  | { readonly parent: CgroupParent; readonly sweptHosts: number; readonly reason?: undefined }
  | { readonly parent?: undefined; readonly sweptHosts?: undefined; readonly reason: string }

/**
 * Makes the parent group of this host process, or says why that is impossible. Blocking, a fraction of a millisecond.
 */
export function openCgroups(): CgroupAnswer {
  try {
    const own = findOwnGroups()
    const name = nameOfThisHost()
    if (own.version1 !== undefined) {
      const swept = new Set(Object.values(own.version1).flatMap(sweep))
      const inside = (folder: string) => `${folder}/${name}`
      const { memory, pids, cpu, shares } = own.version1
      const hierarchies = { memory: inside(memory), pids: inside(pids), cpu: inside(cpu) }
      return {
        parent: openVersion1(shares === undefined ? hierarchies : { ...hierarchies, shares: inside(shares) }),
        sweptHosts: swept.size,
      }
    }
    if (own.version2 === undefined) return { reason: own.reason }
    const swept = sweep(own.version2)
    return { parent: openVersion2(own.version2, name), sweptHosts: swept.length }
  } catch (error) {
    return { reason: describe(error as NodeJS.ErrnoException) }
  }
}

/** The result leaves out the name of this process's group. */
function describe({ code, path, message }: NodeJS.ErrnoException): string {
  if (code === undefined || path === undefined) return message
  return `${code}: no cgroups can be made in ${dirname(path)}`
}

/** Removes the groups of dead hosts, and returns their names. Their processes died with them, through their stubs. */
function sweep(folder: string): string[] {
  const swept: string[] = []
  for (const name of readdirSync(folder)) {
    if (!isLeftBehind(name)) continue
    try {
      const group = `${folder}/${name}`
      for (const entry of readdirSync(group, { withFileTypes: true })) {
        if (entry.isDirectory()) removeGroup(`${group}/${entry.name}`)
      }
      removeGroup(group)
      swept.push(name)
    } catch {
      // Its processes are still ending, or another host removes it at the same time. The next start tries again.
    }
  }
  return swept
}

/** The folders of the groups that this process is in, from /proc/self/cgroup and the mounts. */
function findOwnGroups(): { version1?: Hierarchies; version2?: string; reason: string } {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').map(parseMount)
  const memberships = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n').map(parseMembership)
  const folderOf = (controller: string | undefined): string | undefined => {
    const path = memberships.find(({ controllers }) =>
      controller === undefined ? controllers.length === 0 : controllers.includes(controller),
    )?.path
    const mount = mounts.find(({ type, options }) =>
      controller === undefined ? type === 'cgroup2' : type === 'cgroup' && options.includes(controller),
    )
    if (path === undefined || mount === undefined) return undefined
    const below = mount.root === '/' ? path : path.slice(mount.root.length)
    const folder = `${mount.point}${below}`.replace(/\/+$/, '')
    return existsSync(folder) ? folder : undefined
  }
  const [memory, pids, cpu, shares] = (['memory', 'pids', 'cpuacct', 'cpu'] as const).map(folderOf)
  if (memory !== undefined && pids !== undefined && cpu !== undefined) {
    const isApart = shares !== undefined && shares !== cpu
    return { version1: { memory, pids, cpu, ...(isApart && { shares }) }, reason: '' }
  }
  const unified = folderOf(undefined)
  if (unified === undefined) return { reason: 'no cgroup file system is mounted' }
  const missing = missingControllers(unified)
  if (missing.length === 0) return { version2: unified, reason: '' }
  return { reason: `${unified} lacks the controllers ${missing.join(', ')}` }
}

function missingControllers(folder: string): CgroupController[] {
  const offered = readFileSync(`${folder}/cgroup.controllers`, 'utf8').trim().split(' ')
  return (['memory', 'pids', 'cpu'] as const).filter((controller) => !offered.includes(controller))
}

/** See proc(5) on mountinfo: fields up to ` - `, then type, source and the super block's options. */
function parseMount(line: string): { root: string; point: string; type: string; options: string[] } {
  const [before = '', after = ''] = line.split(' - ')
  const fields = before.split(' ')
  const [type = '', , options = ''] = after.split(' ')
  return { root: fields[3] ?? '/', point: fields[4] ?? '/', type, options: options.split(',') }
}

function parseMembership(line: string): { controllers: string[]; path: string } {
  const [, controllers = '', ...path] = line.split(':')
  return { controllers: controllers === '' ? [] : controllers.split(','), path: path.join(':') }
}
