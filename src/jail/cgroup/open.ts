/** Finds out, by doing, whether and where this process may make cgroups; sweeps what dead hosts left behind. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'

import type { CgroupController, CgroupParent } from './cgroup.ts'
import { removeGroup } from './files.ts'
import { openVersion1 } from './version-1.ts'
import type { Hierarchies } from './version-1.ts'
import { openVersion2 } from './version-2.ts'

export type CgroupAnswer =
  | { readonly parent: CgroupParent; readonly reason?: undefined }
  | { readonly parent?: undefined; readonly reason: string }

let sequence = 0

/** Makes the parent group of this host process, or says why that is impossible. Blocking, a fraction of a millisecond. */
export function openCgroups(): CgroupAnswer {
  try {
    const own = findOwnGroups()
    const name = `lazaret-${hostIdentity()}-${++sequence}`
    if (own.version1 !== undefined) {
      Object.values(own.version1).forEach(sweep)
      const inside = (folder: string) => `${folder}/${name}`
      const { memory, pids, cpu } = own.version1
      return { parent: openVersion1({ memory: inside(memory), pids: inside(pids), cpu: inside(cpu) }) }
    }
    if (own.version2 === undefined) return { reason: 'no cgroup file system is mounted' }
    sweep(own.version2)
    return { parent: openVersion2(own.version2, name) }
  } catch (error) {
    return { reason: describe(error as NodeJS.ErrnoException) }
  }
}

/** Without the name that only this process has for its group. */
function describe({ code, path, message }: NodeJS.ErrnoException): string {
  if (code === undefined || path === undefined) return message
  return `${code}: no cgroups can be made in ${dirname(path)}`
}

/** A dead host's number can be taken anew, so its start time goes along; and a pid means nothing in another namespace. */
function hostIdentity(): string {
  return `${pidNamespace()}-${process.pid}-${startTime(process.pid)}`
}

function pidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
}

/** Field 22 of /proc/<pid>/stat, counted after the name, which may hold anything. */
function startTime(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

/** Removes the groups of hosts that died without doing so. Their processes died with them, through their stubs. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, namespace, pid, start] = /^lazaret-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? []
    if (namespace !== pidNamespace() || isAlive(Number(pid), String(start))) continue
    try {
      const group = `${folder}/${name}`
      for (const entry of readdirSync(group, { withFileTypes: true })) {
        if (entry.isDirectory()) removeGroup(`${group}/${entry.name}`)
      }
      removeGroup(group)
    } catch {
      // Still dying, or another host sweeps at the same time: the next start tries again.
    }
  }
}

function isAlive(pid: number, start: string): boolean {
  try {
    return startTime(pid) === start
  } catch {
    return false
  }
}

/** The folders of the groups that this process is in, from /proc/self/cgroup and the mounts. */
function findOwnGroups(): { version1?: Hierarchies; version2?: string } {
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
  const [memory, pids, cpu] = (['memory', 'pids', 'cpuacct'] as const).map(folderOf)
  if (memory !== undefined && pids !== undefined && cpu !== undefined)
    return { version1: { memory, pids, cpu } }
  const unified = folderOf(undefined)
  return unified === undefined || !offersControllers(unified) ? {} : { version2: unified }
}

function offersControllers(folder: string): boolean {
  const offered = readFileSync(`${folder}/cgroup.controllers`, 'utf8').trim().split(' ')
  return (['memory', 'pids', 'cpu'] satisfies CgroupController[]).every((controller) =>
    offered.includes(controller),
  )
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
