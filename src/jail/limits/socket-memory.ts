/**
 * Data that waits in TCP and UDP sockets counts against a budget of the whole machine (`tcp_mem`, in pages). Above its
 * first number the kernel shrinks everybody's buffers; above its third it drops everybody's segments. So one cell may
 * use a small part of the budget, whatever its memory limit. Source: tcp(7).
 */
import { readFileSync } from 'node:fs'

const pageBytes = 4096
const cellsAtLeast = 32
/** The minimum: room for two TCP connections with full buffers, so that a cell can connect to itself. */
const leastBytes = 8 * 1024 * 1024

/** How much may wait in the sockets of one cell with this much memory. */
export function socketBytesMax(memoryBytes: number, tcpMem: string): number {
  const [pages = NaN] = tcpMem.trim().split(/\s+/).map(Number)
  if (!Number.isFinite(pages)) return memoryBytes // this kernel has no TCP, or hides it
  return Math.min(memoryBytes, Math.max(leastBytes, Math.floor((pages * pageBytes) / cellsAtLeast)))
}

let known: string | undefined

/** Cached, because it is set at boot and rarely changes. */
export function readTcpMem(): string {
  try {
    known ??= readFileSync('/proc/sys/net/ipv4/tcp_mem', 'utf8')
  } catch {
    known = ''
  }
  return known
}
