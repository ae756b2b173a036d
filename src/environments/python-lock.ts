/** Python's part of a lock: a requirements file with hashes. Source: pip's documentation, "Secure installs". */
import { environmentFailed } from './failed.ts'
import { hashFile } from './seal.ts'

export interface PythonLock {
  /** Its requirements without hashes, addresses and options. */
  readonly requirements: string
  /** Written as `sha256:…`. */
  readonly hashes: ReadonlySet<string>
}

export function readPythonLock(text: string): PythonLock {
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)
  const required = lines.map((line) => line.replace(/(?:^|\s)#.*$/, '').trim()).filter(isRequirement)
  const hashes = required.flatMap((line) => [...line.matchAll(hashOption)].map(([, hash = '']) => hash))
  return {
    requirements: `${required.map(bare).join('\n')}\n`,
    hashes: new Set(hashes.map((hash) => hash.toLowerCase())),
  }
}

/** Without hashes, and without the address that an archive came from. */
const bare = (line: string): string =>
  line
    .replaceAll(hashOption, '')
    .replace(/\s*@\s*\S+/, '')
    .trim()
const hashOption = /\s--hash[=\s]\s*(\w+:[0-9a-f]+)/gi
const isRequirement = (line: string): boolean => /^[A-Za-z0-9]/.test(line)

/** Those that pip accepts. */
const algorithms = ['sha256', 'sha384', 'sha512']

/** Throws ENVIRONMENT_FAILED for a file that is not one of those that were locked. */
export async function requireLocked(path: string, name: string, { hashes }: PythonLock): Promise<void> {
  for (const algorithm of algorithms.filter((one) => [...hashes].some((hash) => hash.startsWith(one))))
    if (hashes.has(`${algorithm}:${await hashFile(path, algorithm)}`)) return
  throw environmentFailed(
    `${name} is not among the hashes of the lock.`,
    'A package is not what the lock says. Find out why before you make a new lock.',
  )
}
