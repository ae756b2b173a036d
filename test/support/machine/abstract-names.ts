/** The abstract sockets with names of Lazaret's: nurseries'. See unix(7), proc_net(5). */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

interface Name {
  readonly name: string
  readonly inode: string
}

/** Those that this process holds a descriptor of. Others on the machine have theirs. */
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
    return '' // the one of the folder itself, closed meanwhile
  }
}
