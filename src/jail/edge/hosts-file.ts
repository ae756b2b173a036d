/** The names that the machine's administrator has listed in /etc/hosts, see hosts(5). */
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

const path = '/etc/hosts'
const bytesMax = 4 * 1024 * 1024

export class HostsFile {
  #names = new Map<string, string[]>()
  #version = ''

  /** Empty if the name is not listed. */
  find(name: string): readonly string[] {
    this.#read()
    return this.#names.get(name) ?? []
  }

  /** Reads the file again if it has changed. */
  #read(): void {
    const facts = statSync(path, { throwIfNoEntry: false })
    const version = facts === undefined ? '' : `${facts.ino}:${facts.mtimeMs}:${facts.size}`
    if (version === this.#version) return
    this.#version = version
    this.#names = facts === undefined || facts.size > bytesMax ? new Map() : parse(readFileSync(path, 'utf8'))
  }
}

function parse(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...all] = (line.split('#')[0] ?? '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of all.map((one) => one.toLowerCase()))
      names.set(name, [...(names.get(name) ?? []), address])
  }
  return names
}
