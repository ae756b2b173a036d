/**
 * The generated /etc: what programs look up and nothing that identifies the machine.
 * Formats: passwd(5), group(5), hosts(5), nsswitch.conf(5), resolv.conf(5), services(5), protocols(5).
 */
import { guestHome, ownView } from '../plan/place.ts'
import { guestId } from '../plan/shape.ts'
import type { CellShape } from '../plan/shape.ts'

/** Guests have ids from 1000 on: each finds itself under the same name. */
export function planEtcFiles(
  resolvConf: string,
  { guests = 1, isSandbox = false }: Pick<CellShape, 'guests' | 'isSandbox'> = {},
): Readonly<Record<string, string>> {
  return {
    '/etc/passwd': listUsers(guests, isSandbox ? guestHome : ownView.workspace),
    '/etc/group': listGroups(guests),
    '/etc/hosts': '127.0.0.1\tlocalhost cell\n::1\tlocalhost cell\n',
    '/etc/hostname': 'cell\n',
    '/etc/nsswitch.conf':
      'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n',
    '/etc/resolv.conf': resolvConf,
    '/etc/services': services,
    '/etc/protocols':
      'ip\t0\tIP\nicmp\t1\tICMP\ntcp\t6\tTCP\nudp\t17\tUDP\nipv6\t41\tIPv6\nipv6-icmp\t58\tIPv6-ICMP\n',
    '/etc/host.conf': 'multi on\n',
    '/etc/timezone': 'Etc/UTC\n',
  }
}

/** Links that every system has. Only a sandbox has a /var, and a /run to write to. */
export function planSystemLinks({
  isSandbox = false,
}: Pick<CellShape, 'isSandbox'>): Readonly<Record<string, string>> {
  return {
    '/etc/localtime': '/usr/share/zoneinfo/Etc/UTC',
    '/etc/mtab': '/proc/self/mounts',
    '/etc/os-release': '../usr/lib/os-release',
    ...(isSandbox ? { '/var/tmp': '/tmp', '/var/run': '/run', '/var/lock': '/run/lock' } : {}),
  }
}

function listUsers(guests: number, home: string): string {
  const ids = Array.from({ length: guests }, (_, index) => guestId + index)
  return [
    'root:x:0:0:root:/:/usr/sbin/nologin',
    ...ids.map((id) => `guest:x:${id}:${id}:guest:${home}:/bin/sh`),
    'nobody:x:65534:65534:nobody:/:/usr/sbin/nologin',
    '',
  ].join('\n')
}

function listGroups(guests: number): string {
  const ids = Array.from({ length: guests }, (_, index) => guestId + index)
  return ['root:x:0:', ...ids.map((id) => `guest:x:${id}:`), 'nogroup:x:65534:', ''].join('\n')
}

const services = [
  ['ftp', 21],
  ['ssh', 22],
  ['smtp', 25],
  ['domain', 53],
  ['http', 80],
  ['pop3', 110],
  ['ntp', 123],
  ['imap', 143],
  ['https', 443],
  ['imaps', 993],
  ['mysql', 3306],
  ['postgresql', 5432],
  ['redis', 6379],
  ['http-alt', 8080],
]
  .flatMap(([name, port]) => [`${name}\t${port}/tcp`, `${name}\t${port}/udp`])
  .join('\n')
  .concat('\n')
