/** Lazaret's abstract sockets, which belong to nurseries. See unix(7), proc_net(5). */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

interface Name {
  readonly name: string
  readonly inode: string
}

/** The names of those of which this process holds a descriptor. Other processes on the machine have their own. */
export function listOwnNames(): string[] {
  const inodes = new Set(readdirSync('/proc/self/fd').map(inodeOf))
  return listNames()
    .filter(({ inode }) => inodes.has(inode))
    .map(({ name }) => name)
}

function listNames(): Name[] {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n')
  const rows = lines.map((line) => line.trim().split(/\s+/))
  return rows.flatMap(([, , , , , , inode = '', name = '']) =>
    name.startsWith('@lazaret-') ? [{ name, inode }] : [],
  )
}

function inodeOf(descriptor: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[1] ?? ''
  } catch {
    return '' // the descriptor of the folder itself, which is closed again
  }
}
