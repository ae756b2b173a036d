/** What Lazaret is measured against: the same work, unjailed, or in bubblewrap with the same mounts. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Runs a program to its end with its output collected, as Node's own users do. */
export function runPlain(file: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.resume()
    child.stderr.resume()
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${file} ended with ${code}.`))))
  })
}

export const bubblewrap = ['/usr/bin/bwrap', '/usr/local/bin/bwrap'].find((path) => existsSync(path))

const systemLinks = ['bin', 'sbin', 'lib', 'lib64'].filter((name) => existsSync(`/usr/${name}`))
const etc = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl/certs'].filter((path) => existsSync(path))

/** The view of a cell as far as bubblewrap can give it; it has no limits, no cgroups and no filters of its own. */
export const bubblewrapArguments: readonly string[] = [
  '--unshare-all',
  '--die-with-parent',
  '--new-session',
  ...['--ro-bind', '/usr', '/usr'],
  ...systemLinks.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
  ...etc.flatMap((path) => ['--ro-bind', path, path]),
  ...[
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    '--tmpfs',
    '/workspace',
    '--chdir',
    '/workspace',
  ],
]
