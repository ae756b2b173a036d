/** bubblewrap with the mounts of a cell. */
import { existsSync } from 'node:fs'

export const bubblewrap = ['/usr/bin/bwrap', '/usr/local/bin/bwrap'].find((path) => existsSync(path))

const systemLinks = ['bin', 'sbin', 'lib', 'lib64'].filter((name) => existsSync(`/usr/${name}`))
const etc = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl/certs'].filter((path) => existsSync(path))

/** A cell's view of files, as far as bubblewrap supports it; it has no limits, no cgroups and no filters of its own. */
export const bubblewrapArguments: readonly string[] = [
  ...['--unshare-all', '--die-with-parent', '--new-session'],
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
