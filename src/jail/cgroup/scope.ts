/**
 * A group of our own from systemd: a transient scope with `Delegate=`, as container engines make them. Only the process
 * that holds it is moved there, never this one, which may share its group with a shell or npm. A scope ends with its last
 * process, and systemd removes all groups in it, so a killed host leaves nothing.
 * Source: org.freedesktop.systemd1(5), systemd.resource-control(5), https://systemd.io/CGROUP_DELEGATION.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

import { readOr } from './files.ts'

/** Where distributions have systemd's client for D-Bus. As root, PATH is not trusted. */
const clients = ['/usr/bin/busctl', '/bin/busctl', '/run/current-system/sw/bin/busctl']

const callMs = 15_000
/** The manager has answered when it has queued the job, which takes a few more milliseconds. */
const jobPolls = 3000
const jobPollMs = 5

/** Blocks for some milliseconds. Returns the path of the scope. Throws with the reason if the manager refuses. */
export function startScope(manager: Manager, name: string, pid: number): string {
  const unit = `${name}.scope`
  const slice = sliceOf(membershipOf('self') ?? '/', manager.isOfUser)
  // `a(sv)`: each property is its name, the type of its value, and the value.
  const properties = [
    ['Description', 's', 'Cells of Lazaret'],
    ...(slice === undefined ? [] : [['Slice', 's', slice]]),
    ['PIDs', 'au', '1', String(pid)],
    ['DelegateControllers', 'as', '3', 'memory', 'pids', 'cpu'],
    // The default would bound all cells together.
    ['TasksMax', 't', '18446744073709551615'],
    // Else the cells would end before the service that lets them finish.
    ['DefaultDependencies', 'b', 'false'],
    ['CollectMode', 's', 'inactive-or-failed'],
  ]
  manager.call('StartTransientUnit', 'ssa(sv)a(sa(sv))', [
    ...[unit, 'fail', String(properties.length)],
    ...properties.flat(),
    '0',
  ])
  return waitFor(unit, pid)
}

/** Moves another process of this user into a group of the scope, as `startScope` does. */
export function joinScope(manager: Manager, name: string, group: string, pid: number): void {
  const unit = `${name}.scope`
  manager.call('AttachProcessesToUnit', 'ssau', [unit, `/${group}`, '1', String(pid)])
  waitFor(unit, pid)
}

export interface Manager {
  readonly isOfUser: boolean
  call(method: string, signature: string, values: readonly string[]): void
}

/**
 * Root's is the machine's; another user has one of their own while they are signed in, or with `enable-linger`. Throws with
 * the reason if there is none.
 */
export function findManager(): Manager {
  // In a container that shows the host's /run, the host's manager would take our pids for other processes.
  if (readOr('/proc/1/comm', '').trim() !== 'systemd' || !existsSync('/run/systemd/system'))
    throw new Error('systemd does not run here')
  const client = clients.find((path) => existsSync(path))
  if (client === undefined) throw new Error('there is no busctl to call systemd with')
  const uid = process.geteuid?.() ?? 0
  const isOfUser = uid !== 0
  const runtime = `/run/user/${uid}`
  if (isOfUser && !existsSync(`${runtime}/bus`))
    throw new Error('this user has no service manager, or no D-Bus to it')
  return { isOfUser, call }

  function call(method: string, signature: string, values: readonly string[]): void {
    const bus = [isOfUser ? '--user' : '--system', '--quiet', '--allow-interactive-authorization=no']
    const object = [
      'org.freedesktop.systemd1',
      '/org/freedesktop/systemd1',
      'org.freedesktop.systemd1.Manager',
    ]
    const { status, error, stderr } = spawnSync(
      client as string,
      [...bus, 'call', ...object, method, signature, ...values],
      { env: isOfUser ? { XDG_RUNTIME_DIR: runtime } : {}, cwd: '/', encoding: 'utf8', timeout: callMs },
    )
    if (error !== undefined)
      throw new Error(`systemd could not be called: ${error.message}`, { cause: error })
    if (status !== 0) throw new Error(`systemd refused ${method}: ${stderr.trim().slice(0, 200)}`)
  }
}

/**
 * The slice of this process, so that what bounds the slice also bounds its cells; undefined for the manager's default. A
 * user's manager has only the slices below itself, and the machine's manager only those above.
 */
export function sliceOf(path: string, isOfUser: boolean): string | undefined {
  const names = path.split('/').slice(1)
  const service = names.findIndex((name) => /^user@\d+\.service$/.test(name))
  if (isOfUser && service === -1) return undefined
  const below = isOfUser ? names.slice(service + 1) : names
  const end = below.findIndex((name) => !name.endsWith('.slice'))
  return (end === -1 ? below : below.slice(0, end)).at(-1)
}

/** The path of a process in cgroup version 2. */
export function membershipOf(pid: number | 'self'): string | undefined {
  return /^0::(.*)$/m.exec(readOr(`/proc/${pid}/cgroup`, ''))?.[1]
}

/** Returns the path of the unit's group, when the process has been moved there. */
function waitFor(unit: string, pid: number): string {
  const never = new Int32Array(new SharedArrayBuffer(4))
  for (let polls = 0; polls < jobPolls; polls++) {
    const path = membershipOf(pid)
    const end = path?.lastIndexOf(`/${unit}`) ?? -1
    if (path !== undefined && end !== -1) return path.slice(0, end + 1 + unit.length)
    Atomics.wait(never, 0, 0, jobPollMs)
  }
  throw new Error(`systemd did not move the process into ${unit}`)
}
