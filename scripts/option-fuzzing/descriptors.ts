/** Descriptors of every kind that a guest can have, in the states that options depend on. */
import type { Draft } from './draft.ts'

type Opener = (draft: Draft) => void

const paths = [
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/urandom',
  '/dev/ptmx',
  '/dev/shm',
  '/usr/bin/env',
  '/usr/lib',
  '/etc/passwd',
  '/proc/self/maps',
  '/proc/self/loginuid',
  '/proc/self/timerslack_ns',
  '/proc/self/oom_score_adj',
  '/proc/pressure/memory',
  '/proc/sys/kernel/ostype',
  '/proc/locks',
  '/workspace',
  '/tmp',
  '/tmp/made',
  '/workspace/made',
  '/dev/shm/made',
]
const openFlags = [1, 2, 0o100, 0o1000, 0o2000, 0o4000, 0o10000, 0o40000, 0o200000, 0o2000000, 0o10000000]
const families = [1, 2, 2, 2, 10, 10, 16]
const types = [1, 1, 2, 2, 3, 5]
const protocols = [0, 0, 0, 0, 1, 6, 17, 58, 132, 136, 255, 262]
const addresses = ['@loopback', '@loopback6', '@unix', '@abstract', '@netlink']

const file: Opener = (draft) => {
  const path = draft.pick(paths)
  const flags = path.endsWith('made') ? 0o102 : Number(draft.chance(0.5) ? 0 : draft.flags(openFlags))
  draft.open('openat', -100, `"${path}"`, flags, 0o644)
}

const socket: Opener = (draft) => {
  const choose = draft.options('socket', { 0: families, 1: types, 2: protocols })
  const flags = draft.pick([0, 0o4000, 0o2000000])
  const words = draft.chance(0.6)
    ? [draft.pick(families), draft.pick([1, 2]) | flags, 0]
    : [choose(0), choose(1), choose(2)]
  const made = draft.open('socket', ...words)
  if (draft.chance(0.5)) draft.call('bind', made, draft.pick(addresses), draft.pick([16, 28, 110, 12]))
  if (draft.chance(0.3)) draft.call('listen', made, draft.integer())
  if (draft.chance(0.3)) draft.call('connect', made, draft.pick(addresses), draft.pick([16, 28, 110, 12]))
  if (draft.chance(0.2)) draft.open('accept4', made, 0, 0, 0o4000)
}

const connection: Opener = (draft) => {
  const server = draft.open('socket', 2, 1, 0)
  draft.call('bind', server, '@loopback', 16)
  draft.call('listen', server, 5)
  const client = draft.open('socket', 2, 0o4001, 0)
  draft.call('connect', client, '@loopback', 16)
  draft.open('accept4', server, 0, 0, 0o4000)
}

const twoAt = (name: string, ...words: readonly number[]): Opener => {
  return (draft) => {
    const data = draft.pick(['@pair', '@pair-2'])
    draft.call(name, ...(name === 'pipe2' ? [data, ...words] : [...words, data]))
    draft.keep(`${data}:0`)
    draft.keep(`${data}:1`)
  }
}

const terminal: Opener = (draft) => {
  const master = draft.open('openat', -100, '"/dev/ptmx"', 2)
  draft.call('ioctl', master, 0x40045431, '@zero') // TIOCSPTLCK
  draft.open('ioctl', master, 0x5441, 2) // TIOCGPTPEER
}

const watch: Opener = (draft) => {
  const made = draft.open('inotify_init1', draft.pick([0, 0o4000]))
  const choose = draft.options('inotify_add_watch', { 2: [1, 2, 0x20, 0x10, 0x31, 0x100, 0xfff, 0x2000fff] })
  draft.call('inotify_add_watch', made, `"${draft.pick(paths)}"`, choose(2))
}

const poll: Opener = (draft) => {
  const made = draft.open('epoll_create1', 0)
  draft.call('epoll_ctl', made, draft.pick([1, 2, 3]), draft.descriptor(), '@epoll-event')
}

const memory: Opener = (draft) => {
  const choose = draft.options('memfd_create', { 1: [0, 1, 2, 3, 4, 8, 0x10] })
  const made = draft.open('memfd_create', '"memory"', choose(1))
  draft.call('ftruncate', made, draft.pick([0, 4096, 1 << 20, 8 << 20]))
}

const simple = (name: string, ...words: readonly (string | number)[]): Opener => {
  return (draft) => void draft.open(name, ...words)
}

const openers: readonly Opener[] = [
  file,
  file,
  file,
  socket,
  socket,
  socket,
  connection,
  twoAt('pipe2', 0o4000),
  twoAt('socketpair', 1, 0o4001, 0),
  twoAt('socketpair', 1, 0o4002, 0),
  twoAt('socketpair', 1, 0o4005, 0),
  terminal,
  watch,
  poll,
  memory,
  simple('eventfd2', 5, 0o4001),
  simple('timerfd_create', 1, 0o4000),
  simple('signalfd4', -1, '@signals', 8, 0o4000),
]

export function openSocket(draft: Draft): void {
  draft.pick([socket, socket, connection])(draft)
}

export function openSomething(draft: Draft): void {
  draft.pick(openers)(draft)
}
