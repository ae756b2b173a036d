/**
 * The host's readings of itself: counts that guests of any level share with everybody. They are in one flat record, so that
 * readings can be compared by name. Those that this user may not read are absent.
 */
import { closeSync, constants, openSync, readFileSync, readSync, statSync } from 'node:fs'

export type Readings = Readonly<Record<string, number>>

const KiB = 1024
const pageBytes = 4096
const ofMemory = [
  'MemAvailable',
  'SUnreclaim',
  'VmallocUsed',
  'Percpu',
  'PageTables',
  'KernelStack',
  'HugePages_Free',
]

/** Cheap enough for many times a second. */
export function readQuickly(): Readings {
  const memory = readMemory()
  return { ...memory, ...readSockets() }
}

/** Lists of the kernel that take milliseconds when they are long. */
export function readSlowly(): Readings {
  return {
    ...readQuickly(),
    ...readFilterCode(),
    ...readNumber('open files', '/proc/sys/fs/file-nr', /^(\d+)/),
    ...readNumber('inodes', '/proc/sys/fs/inode-nr', /^(\d+)/),
    ...readNumber('dentries', '/proc/sys/fs/dentry-state', /^(\d+)/),
    ...readNumber('ptys', '/proc/sys/kernel/pty/nr', /^(\d+)/),
    ...readNumber('memory cgroups', '/proc/cgroups', /^memory\t\d+\t(\d+)/m),
    ...readLines('file locks', '/proc/locks'),
    ...readLines('mounts', '/proc/self/mountinfo'),
    ...readKeys(),
    ...readTimes(),
  }
}

function readMemory(): Readings {
  const text = read('/proc/meminfo') ?? ''
  const fields = [...text.matchAll(/^(\w+):\s+(\d+)( kB)?$/gm)].map(
    ([, name = '', count, unit]) => [name, Number(count) * (unit === undefined ? 1 : KiB)] as const,
  )
  return Object.fromEntries(fields.filter(([name]) => ofMemory.includes(name)))
}

/** These two count for the whole machine, even in a network namespace. */
function readSockets(): Readings {
  const text = read('/proc/net/sockstat') ?? ''
  const pages = [...text.matchAll(/^(?:TCP|UDP): .*mem (\d+)$/gm)].map(([, count]) => Number(count))
  return { 'socket memory': pages.reduce((sum, count) => sum + count, 0) * pageBytes }
}

/** BPF programs and their compiled code, which only root can read. */
function readFilterCode(): Readings {
  const text = read('/proc/vmallocinfo')
  if (text === undefined || text === '') return {}
  const sizes = [...text.matchAll(/^\S+\s+(\d+) (?:bpf_|execmem)/gm)].map(([, size]) => Number(size))
  return { 'filter code': sizes.reduce((sum, size) => sum + size, 0) }
}

function readKeys(): Readings {
  const text = read('/proc/key-users')
  if (text === undefined) return {}
  const counts = [...text.matchAll(/^\s*\d+:\s+(\d+)/gm)].map(([, count]) => Number(count))
  return { keys: counts.reduce((sum, count) => sum + count, 0) }
}

/** Attributes of inodes that cells share with the host: nothing has a reason to change them. */
function readTimes(): Readings {
  const entries = ['/dev/null', '/dev/zero', '/usr/bin/env', '/usr/lib', '/etc/passwd'].flatMap((path) => {
    const { mtimeMs, ctimeMs, mode } = statSync(path)
    return [
      [`time of ${path}`, Math.max(mtimeMs, ctimeMs)],
      [`mode of ${path}`, mode],
    ] as const
  })
  return Object.fromEntries(entries)
}

function readNumber(name: string, path: string, pattern: RegExp): Readings {
  const [, count] = pattern.exec(read(path) ?? '') ?? []
  return count === undefined ? {} : { [name]: Number(count) }
}

function readLines(name: string, path: string): Readings {
  const text = read(path)
  return text === undefined ? {} : { [name]: text.split('\n').length - 1 }
}

export function readModules(): readonly string[] {
  const lines = (read('/proc/modules') ?? '').split('\n')
  return lines.map((line) => line.split(' ')[0] ?? '').filter((name) => name !== '')
}

/** Lines of the kernel's log about problems, from now on. */
export class KernelLog implements Disposable {
  readonly #descriptor: number | undefined

  constructor() {
    this.#descriptor = openLog()
    this.readNew()
  }

  get isReadable(): boolean {
    return this.#descriptor !== undefined
  }

  /** Runs that exceed their memory are logged there, too, which is expected. */
  readNew(): readonly string[] {
    const lines: string[] = []
    const bytes = Buffer.alloc(8192)
    for (;;) {
      const count = this.#readOne(bytes)
      if (count === 0) return lines.filter(isAboutTheKernel)
      if (count > 0) lines.push(bytes.toString('utf8', 0, count).split('\n')[0] ?? '')
    }
  }

  /** Negative if lines were lost; 0 at the end. */
  #readOne(bytes: Buffer): number {
    if (this.#descriptor === undefined) return 0
    try {
      return readSync(this.#descriptor, bytes)
    } catch (error) {
      return Reflect.get(Object(error), 'code') === 'EPIPE' ? -1 : 0
    }
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}

/** A guest's process may fault, so this is not a problem: `traps: name[pid] general protection fault`. */
export function isAboutTheKernel(line: string): boolean {
  const isFaultOfProcess = /^[^;]*;traps: .{0,15}\[\d+\] /.test(line)
  return (
    !isFaultOfProcess &&
    /WARNING:|BUG:|\bOops:|\bleak|general protection|hung task|modprobe|\bstall/.test(line)
  )
}

function openLog(): number | undefined {
  try {
    return openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
