/** Finds out, by trying, whether and where this process may create cgroups; removes what dead hosts left behind. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { isLeftBehind, nameOfThisHost } from '../machine/host-identity.ts'
import type { CgroupController, CgroupParent } from './cgroup.ts'
import { removeGroup } from './files.ts'
import { findManager, joinScope, startScope } from './scope.ts'
import { openVersion1 } from './version-1.ts'
import type { Hierarchies } from './version-1.ts'
import { divide, hostLeaf, openVersion2 } from './version-2.ts'

export type CgroupAnswer =
  /** `sweptHosts` is the number of dead hosts whose groups have been removed. */
  | { readonly parent: CgroupParent; readonly sweptHosts: number; readonly reason?: undefined }
  | { readonly parent?: undefined; readonly sweptHosts?: undefined; readonly reason: string }

/** Starts the process that holds a scope, and returns its pid. Throws if there can be none. */
export type StartHolder = () => number

/**
 * Makes the parent group of this host process, or says why that is impossible. Blocking: a fraction of a millisecond,
 * or some milliseconds where systemd is asked for a scope.
 */
export function openCgroups(startHolder: StartHolder): CgroupAnswer {
  try {
    const tree = findTree()
    const version1 = tree.hierarchies()
    if (version1 !== undefined) return openHierarchies(version1)
    if (tree.own === undefined || tree.root === undefined)
      return { reason: 'no cgroup file system is mounted' }
    return openFirst(tree.own, tree.root, startHolder)
  } catch (error) {
    return { reason: describe(error) }
  }
}

function openHierarchies({ memory, pids, cpu, shares }: Hierarchies): CgroupAnswer {
  const name = nameOfThisHost()
  const swept = new Set([memory, pids, cpu, ...(shares === undefined ? [] : [shares])].flatMap(sweep))
  const inside = (folder: string) => `${folder}/${name}`
  const hierarchies = { memory: inside(memory), pids: inside(pids), cpu: inside(cpu) }
  return {
    parent: openVersion1(shares === undefined ? hierarchies : { ...hierarchies, shares: inside(shares) }),
    sweptHosts: swept.size,
  }
}

/**
 * Version 2. A delegated group comes first, because what bounds a service then bounds its cells too. The root's own
 * groups belong to systemd where there is one, so they come last.
 */
function openFirst(own: string, root: string, startHolder: StartHolder): CgroupAnswer {
  const name = nameOfThisHost()
  const reasons: string[] = []
  const roads = [
    () => openInside('own-group', own, name),
    () => openScope(root, name, startHolder),
    ...(process.geteuid?.() === 0 && own !== root ? [() => openInside('root-group', root, name)] : []),
  ]
  for (const open of roads) {
    try {
      return open()
    } catch (error) {
      reasons.push(describe(error))
    }
  }
  return { reason: [...new Set(reasons)].join('; ') }
}

function openInside(road: 'own-group' | 'root-group', own: string, name: string): CgroupAnswer {
  const missing = missingControllers(own)
  if (missing.length > 0) throw new Error(`the cgroup ${own} lacks the controllers ${missing.join(', ')}`)
  const swept = sweep(own)
  return { parent: openVersion2({ road, own, name, occupant: process.pid }), sweptHosts: swept.length }
}

/** The name of the parent of our cells in a scope, which no other host uses. */
const inScope = 'cells'

function openScope(root: string, name: string, startHolder: StartHolder): CgroupAnswer {
  const manager = findManager()
  const holder = startHolder()
  const own = `${root}${startScope(manager, name, holder)}`
  const division = { own, name: inScope }
  const parent = openVersion2({ road: 'scope', ...division, occupant: holder })
  const hold = (pid: number): void => {
    if (existsSync(`${own}/${hostLeaf}`)) {
      joinScope(manager, name, hostLeaf, pid)
    } else {
      startScope(manager, name, pid)
      divide({ ...division, occupant: pid })
    }
  }
  return { parent: { ...parent, hold }, sweptHosts: 0 }
}

/** The result leaves out the name of this process's group. */
function describe(error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException
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

interface Tree {
  /** Version 2: the group that this process is in, or stepped aside from. */
  readonly own: string | undefined
  /** Version 2: the topmost group that is visible here. */
  readonly root: string | undefined
  /** Version 1: the groups that this process is in; undefined unless all of them exist. */
  hierarchies(): Hierarchies | undefined
}

/** From /proc/self/cgroup and the mounts. */
function findTree(): Tree {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').map(parseMount)
  const memberships = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n').map(parseMembership)
  const mountOf = (controller: string | undefined) =>
    mounts.find(({ type, options }) =>
      controller === undefined ? type === 'cgroup2' : type === 'cgroup' && options.includes(controller),
    )
  const folderOf = (controller: string | undefined): string | undefined => {
    const path = memberships.find(({ controllers }) =>
      controller === undefined ? controllers.length === 0 : controllers.includes(controller),
    )?.path
    const mount = mountOf(controller)
    if (path === undefined || mount === undefined) return undefined
    const below = mount.root === '/' ? path : path.slice(mount.root.length)
    const folder = `${mount.point}${below}`.replace(/\/+$/, '')
    return existsSync(folder) ? folder : undefined
  }
  const unified = folderOf(undefined)
  return {
    // Another Lazaret of this process, or one of its parent, may have stepped aside before.
    own: unified?.endsWith(`/${hostLeaf}`) === true ? dirname(unified) : unified,
    root: mountOf(undefined)?.point,
    hierarchies() {
      const [memory, pids, cpu, shares] = (['memory', 'pids', 'cpuacct', 'cpu'] as const).map(folderOf)
      if (memory === undefined || pids === undefined || cpu === undefined) return undefined
      const isApart = shares !== undefined && shares !== cpu
      return { memory, pids, cpu, ...(isApart && { shares }) }
    },
  }
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
