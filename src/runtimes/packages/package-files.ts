/** Finds the files on the host that run inside the cell: Lazaret's build, and the packages that its harness imports. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { LazaretError } from '../../core/errors/errors.ts'
import { unbundle } from '../../core/errors/unbundle.ts'
import type { Place } from '../../jail/plan/place.ts'
import type { Bind } from '../../jail/plan/shape.ts'
import { findInPackage } from './own-packages.ts'

/** The guest path of Lazaret's build. */
const guestFolder = '/opt/lazaret/dist'

/** Paths that were found are cached. Failures are not, because a missing package may still be installed. */
const found = new Map<string, string>()

function findOnce(key: string, find: () => string): string {
  const known = found.get(key)
  if (known !== undefined) return known
  const path = find()
  found.set(key, path)
  return path
}

/** Lazaret's build, read-only. Harnesses always run from it, also in a checkout: they are plain JavaScript there. */
export function guestBind(): Bind {
  return { host: findOnce('our build', findBuild), guest: guestFolder }
}

/** The build for guests in this place. Without a view of their own they reach it through the host's folders. */
export function buildIn(place: Place): Bind {
  const build = guestBind()
  if (place.work !== null) requireReachable(build.host)
  return build
}

function findBuild(): string {
  const host = fileURLToPath(new URL('../../../dist', import.meta.url))
  if (!existsSync(join(host, 'runtimes/python/guest.py'))) {
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail: 'The harnesses that run inside the cell are missing.',
      hint: `${unbundle} In a checkout, run \`npm run build\`.`,
    })
  }
  const path = realpathSync(host)
  requireReadable(path, ['', 'runtimes', 'runtimes/python', 'runtimes/python/guest.py'])
  return path
}

/** Root's guests have ids of their own, so what an installation under a umask such as 077 wrote is closed to them. */
function requireReadable(folder: string, names: readonly string[]): void {
  if (process.geteuid?.() !== 0) return
  const closed = names.map((name) => join(folder, name)).find((path) => (statSync(path).mode & 0o004) === 0)
  if (closed === undefined) return
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: `Guests may not read ${closed}: they have ids of their own.`,
    hint: `Let every user read the installation: \`chmod -R go+rX ${dirname(folder)}\`, and the same for its dependencies.`,
  })
}

/** As `requireReadable`, for the folders above: a checkout in root's home is closed to guests with ids of their own. */
function requireReachable(path: string): void {
  if (process.geteuid?.() !== 0) return
  for (let folder = path; folder !== '/'; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) !== 0) continue
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail: `Guests cannot reach ${path}: they have ids of their own, and ${folder} is closed to other users.`,
      hint: 'Install Lazaret where every user may go, such as /opt or /srv, or start it as an ordinary user.',
    })
  }
}

/** The manifest that makes the files of the build ES modules. */
export function manifestBind(): Bind {
  const find = () => realpathSync(fileURLToPath(new URL('../../../package.json', import.meta.url)))
  return { host: findOnce('our manifest', find), guest: '/opt/lazaret/package.json' }
}

/** A package that a harness imports, read-only, at /opt/lazaret/node_modules/<name>. */
export function packageBind(name: string, from?: string): Bind {
  const host = findOnce(`${name} ${from ?? ''}`, () => findPackage(name, from))
  return { host, guest: `/opt/lazaret/node_modules/${name}` }
}

/** The real path of the folder that holds the package's package.json, wherever the package manager put it. */
function findPackage(name: string, from: string | undefined): string {
  const { path, passedOver } = findInPackage(name, '', from)
  if (path !== undefined) return path
  const what = `The package ${name}, which compiles JavaScript and TypeScript,`
  if (passedOver !== undefined) {
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail: `${what} is not used: ${passedOver.reason}.`,
      hint: 'Remove the write permission of other users, or reinstall lazaret as the user that owns it.',
    })
  }
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: `${what} is not installed.`,
    hint: 'Install lazaret again, without `--omit=optional`: the native part of oxc-transform is optional to npm.',
  })
}
