/**
 * Ports that the kernel assigns, to a socket that binds port 0, or that listens or connects without having bound.
 * Landlock checks none of these, and a program can narrow the choice to one port with IP_LOCAL_PORT_RANGE.
 * Source: Documentation/networking/ip-sysctl.rst, `ip_local_port_range`; ip(7).
 */
import { readFileSync } from 'node:fs'

import type { PortRange } from '../plan/landlock.ts'

const folder = '/proc/sys/net/ipv4'

/** Which of these ports a program in the host's network can get without asking for them. */
export function probeAssignedPorts(ports: readonly number[]): readonly number[] {
  const range = readFileSync(`${folder}/ip_local_port_range`, 'utf8')
  const reserved = readFileSync(`${folder}/ip_local_reserved_ports`, 'utf8')
  return listAssignedPorts(ports, { range, reserved })
}

export interface PortSettings {
  /** Two numbers. */
  readonly range: string
  /** Numbers and `first-last`, with commas in between; empty for none. */
  readonly reserved: string
}

export function listAssignedPorts(ports: readonly number[], settings: PortSettings): readonly number[] {
  const [first = 0, last = 65_535] = settings.range.trim().split(/\s+/).map(Number)
  const reserved = settings.reserved.trim().split(',').filter(Boolean).map(parseRange)
  const given = (port: number) => isIn(port, { first, last }) && !reserved.some((range) => isIn(port, range))
  return ports.filter(given)
}

function parseRange(text: string): PortRange {
  const [first = 0, last = first] = text.split('-').map(Number)
  return { first, last }
}

function isIn(port: number, { first, last }: PortRange): boolean {
  return first <= port && port <= last
}
