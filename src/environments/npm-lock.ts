/** npm's lock file: what it must say, and whether installed files agree with it. Source: npm's documentation, "package-lock.json". */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { z } from 'zod'

import { LazaretError } from '../core/errors/errors.ts'
import type { EnvironmentPackage } from './environment.ts'
import { environmentFailed } from './failed.ts'

const entrySchema = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  integrity: z.string().optional(),
  optional: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  inBundle: z.boolean().optional(),
})
const lockSchema = z.looseObject({ packages: z.record(z.string(), entrySchema) })

type Entries = readonly (readonly [path: string, z.infer<typeof entrySchema>])[]

/** Undefined for a file that is none, or of npm 6 and earlier. */
function readEntries(lockFile: string): Entries | undefined {
  const parsed = lockSchema.safeParse(parseJson(lockFile))
  return parsed.success ? Object.entries(parsed.data.packages).filter(([path]) => path !== '') : undefined
}

/** npm installs what has no hash without a check. Throws INVALID_REQUEST. */
export function requireHashes(lockFile: string): void {
  const entries = readEntries(lockFile)
  if (entries === undefined)
    throw new LazaretError('INVALID_REQUEST', {
      detail: 'Environment: lock.npm.lockFile: is not a package-lock.json of npm 7 or later.',
    })
  const bare = entries.find(([, { integrity, inBundle }]) => integrity === undefined && inBundle !== true)
  if (bare !== undefined)
    throw new LazaretError('INVALID_REQUEST', {
      detail: `Environment: lock.npm.lockFile: ${JSON.stringify(bare[0].slice(0, 200))} has no hash.`,
      hint: 'Each package needs `integrity`, as npm writes it for packages of a registry and for tarballs.',
    })
}

const folderOfPackage = /^(?:(?:^|\/)node_modules\/(?:@[\w.~-]+\/)?[\w.~-]+)+$/
const versionOfPackage = /^[\w.+-]{1,300}$/

/** The packages that are installed in `folder`. Throws ENVIRONMENT_FAILED unless they are those of the lock file. */
export async function readInstalledNpm(
  folder: string,
  lockFile: string,
): Promise<readonly EnvironmentPackage[]> {
  const entries = readEntries(lockFile)
  if (entries === undefined) throw environmentFailed('npm wrote no lock file.')
  const packages: EnvironmentPackage[] = []
  for (const [path, { name = nameIn(path), version = '', optional, devOptional }] of entries) {
    if (!folderOfPackage.test(path) || path.split('/').includes('..') || !versionOfPackage.test(version))
      throw environmentFailed(`npm reported an invalid package: ${JSON.stringify(path.slice(0, 100))}.`)
    const found = await readManifest(join(folder, path.slice('node_modules/'.length), 'package.json'))
    // It is for another machine.
    if (found === undefined && (optional === true || devOptional === true)) continue
    if (found?.name !== name || plain(found.version) !== plain(version)) throw differs(path)
    packages.push({ name, version })
  }
  const known = new Set(entries.map(([path]) => path))
  for (const path of await listPackages(folder)) if (!known.has(path)) throw differs(path)
  return packages
}

function nameIn(path: string): string {
  return path.split('node_modules/').at(-1) ?? ''
}

/** npm writes versions without the letters, zeros and build numbers that say nothing. */
function plain(version: string): string {
  return version.trim().replaceAll(/^[\s=v]+|\+.*$|\b0+(?=\d)/g, '')
}

const manifestSchema = z.looseObject({ name: z.string(), version: z.string() })
/** The largest manifests of well-known packages have a tenth of it. */
const manifestBytesMax = 4 * 1024 * 1024

/** Undefined if there is none that names a package. */
async function readManifest(path: string): Promise<z.infer<typeof manifestSchema> | undefined> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    if (size > manifestBytesMax) return undefined
    return manifestSchema.safeParse(parseJson(await file.readFile('utf8'))).data
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(String((error as NodeJS.ErrnoException).code)))
      return undefined
    throw error
  }
}

/** The paths of all packages that programs can import by name. */
async function listPackages(folder: string): Promise<readonly string[]> {
  const names = await listFolders(folder)
  const paths = await Promise.all(
    names.map(async (name) =>
      name.startsWith('@')
        ? (await listFolders(join(folder, name))).map((inner) => `node_modules/${name}/${inner}`)
        : [`node_modules/${name}`],
    ),
  )
  return paths.flat()
}

async function listFolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
}

function differs(path: string): LazaretError {
  return environmentFailed(
    `${JSON.stringify(path.slice(0, 200))} is not the package that npm's lock file names there.`,
    'An install script has changed it. Allow no script of that package.',
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
