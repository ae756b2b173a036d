/**
 * Installs Python packages with the guests' own pip, each step in a sandbox of its own. Build code of packages may run in the
 * first two, and only archives leave these. No package's code runs in the third, whose files become the environment.
 */
import { mkdir, open, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

import { localFolder } from './build-sandboxes.ts'
import type { BuildSandboxes } from './build-sandboxes.ts'
import type { EnvironmentPackage, EnvironmentSpec } from './environment.ts'
import { environmentFailed } from './failed.ts'
import { readPythonLock, requireLocked } from './python-lock.ts'
import { quote } from './quote.ts'
import { hashFile, makeReadable } from './seal.ts'

export interface PythonInstalled {
  readonly packages: readonly EnvironmentPackage[]
  readonly lock: string
}

interface Places {
  /** A folder of the host, for the build alone. */
  readonly staged: string
  /** Where the installed packages go. */
  readonly to: string
}

/** A wheel or source archive as it came from its source. */
interface Archive {
  readonly file: string
  readonly sha256: string
}

const pythonOut = '/workspace/out/python'
const archivesOut = '/workspace/archives'
const requirementsPath = '/workspace/requirements.txt'
const wheelsShown = `${localFolder}/wheels`

/** Undefined if the request names no Python packages. */
export async function installPython(
  sandboxes: BuildSandboxes,
  spec: EnvironmentSpec,
  { staged, to }: Places,
): Promise<PythonInstalled | undefined> {
  const { python = [], lock } = spec
  if (python.length === 0 && lock?.python === undefined) return undefined
  const archives = await fetchArchives(sandboxes, spec, join(staged, 'archives'))
  const wheels = join(staged, 'wheels')
  const gathered = await gatherWheels(sandboxes, spec, { archives, from: join(staged, 'archives'), wheels })
  await installWheels(sandboxes, spec, { wheels, to })
  return describe(await readInstalled(to), gathered)
}

/** Resolves the request. Metadata of a source archive may come from its own code, so only what can be hashed is used. */
async function fetchArchives(
  sandboxes: BuildSandboxes,
  { python = [], lock, offline = false }: EnvironmentSpec,
  to: string,
): Promise<readonly Archive[]> {
  const { links } = sandboxes.local
  await sandboxes.withSources(async (installer) => {
    if (lock?.python !== undefined) await installer.sandbox.writeFile(requirementsPath, lock.python)
    const wanted =
      lock?.python === undefined ? ['--', ...python.map(quote)] : ['--require-hashes', '-r', requirementsPath]
    await installer.run({
      step: 'fetch-python',
      command: pip('download', ['--dest', archivesOut, ...sourcesOf(links, offline), ...wanted]),
      offlineHint: offline ? offlineHintFor(links) : undefined,
    })
    await installer.takeOut(archivesOut, to)
  })
  const locked = lock?.python === undefined ? undefined : readPythonLock(lock.python)
  const archives: Archive[] = []
  for (const entry of await readdir(to, { withFileTypes: true })) {
    const { name: file } = entry
    // Others do not come from pip.
    if (!entry.isFile() || !/^\w[\w.+!-]*$/.test(file))
      throw environmentFailed(`${JSON.stringify(file)} among the archives is none.`)
    if (locked !== undefined) await requireLocked(join(to, file), file, locked)
    archives.push({ file, sha256: await hashFile(join(to, file), 'sha256') })
  }
  await makeReadable(to)
  return archives
}

interface Gathering {
  readonly archives: readonly Archive[]
  readonly from: string
  readonly wheels: string
}

/** Collects all wheels in one folder. The result has the archive of each package by its normalized name. */
async function gatherWheels(
  sandboxes: BuildSandboxes,
  spec: EnvironmentSpec,
  { archives, from, wheels }: Gathering,
): Promise<ReadonlyMap<string, Archive>> {
  await mkdir(wheels)
  const gathered = new Map<string, Archive>()
  for (const archive of archives) {
    const isWheel = archive.file.endsWith('.whl')
    const folder = isWheel ? from : await buildWheel(sandboxes, spec, { from, archive, wheels })
    const file = isWheel ? archive.file : ((await readdir(folder))[0] ?? '')
    const [, name] = /^(\w[\w.]*)-[\w.+!]+-[\w.-]+\.whl$/.exec(file) ?? []
    if (name === undefined || gathered.has(normalized(name)))
      throw environmentFailed(`${archive.file} gave ${JSON.stringify(file)}, which is no further package.`)
    gathered.set(normalized(name), archive)
    await rename(join(folder, file), join(wheels, file))
  }
  await makeReadable(wheels)
  return gathered
}

interface Source {
  readonly from: string
  readonly archive: Archive
  readonly wheels: string
}

/** Runs the build code of one package, in a sandbox that has no other package of this build. */
async function buildWheel(
  sandboxes: BuildSandboxes,
  { offline = false }: EnvironmentSpec,
  { from, archive: { file }, wheels }: Source,
): Promise<string> {
  const { links } = sandboxes.local
  const shown = { host: join(from, file), guest: `${localFolder}/${file}` }
  const to = `${wheels}-${file}`
  await sandboxes.withSources(
    async (installer) => {
      await installer.run({
        step: 'build-python',
        command: pip('wheel', [
          ...['--no-deps', '--wheel-dir', archivesOut],
          ...[...sourcesOf(links, offline), '--', quote(shown.guest)],
        ]),
        offlineHint: offline ? offlineHintFor(links) : undefined,
      })
      await installer.takeOut(archivesOut, to)
    },
    [shown],
  )
  return to
}

async function installWheels(
  sandboxes: BuildSandboxes,
  { python = [], lock }: EnvironmentSpec,
  { wheels, to }: { readonly wheels: string; readonly to: string },
): Promise<void> {
  await sandboxes.alone(
    async (installer) => {
      // The wheel of a source archive has no hash in the lock.
      const locked = lock?.python === undefined ? undefined : readPythonLock(lock.python).requirements
      if (locked !== undefined) await installer.sandbox.writeFile(requirementsPath, locked)
      await installer.run({
        step: 'install-python',
        command: pip('install', [
          ...['--no-compile', '--no-warn-script-location', '--root-user-action', 'ignore'],
          ...['--no-index', '--find-links', wheelsShown, '--only-binary', ':all:', '--target', pythonOut],
          ...(locked === undefined ? ['--', ...python.map(quote)] : ['-r', requirementsPath]),
        ]),
      })
      await installer.run({
        step: 'compile',
        // The bytecode does not depend on file times. Files for other Python versions fail to compile, which is harmless.
        command: `python3 -m compileall -q -f --invalidation-mode unchecked-hash ${pythonOut} >/dev/null 2>&1 || true`,
      })
      await installer.takeOut(pythonOut, to)
    },
    [{ host: wheels, guest: wheelsShown }],
  )
}

function pip(command: 'download' | 'wheel' | 'install', words: readonly string[]): string {
  const quiet = '--no-input --disable-pip-version-check --no-cache-dir --progress-bar off'
  return `python3 -m pip ${command} ${quiet} ${words.join(' ')}`
}

function sourcesOf(links: readonly string[], isOffline: boolean): string[] {
  return [...(isOffline ? ['--no-index'] : []), ...links.map((folder) => `--find-links ${quote(folder)}`)]
}

function offlineHintFor({ length }: readonly string[]): string {
  return length === 0
    ? 'Offline, Python packages come only from folders of wheels and source archives: name one with `--find-links` (`findLinks`).'
    : 'Check name and version, and that the folders of `--find-links` (`findLinks`) have this package and its dependencies.'
}

/** Enough for the names at the beginning. A description may follow, which can be long. */
const headBytes = 64 * 1024

/** Source: "Recording installed projects", Python Packaging User Guide. */
async function readInstalled(folder: string): Promise<readonly EnvironmentPackage[]> {
  const infos = (await readdir(folder)).filter((name) => name.endsWith('.dist-info'))
  return await Promise.all(
    infos.map(async (info) => {
      const [head = ''] = (await readHead(join(folder, info, 'METADATA'))).split(/\r?\n\r?\n/)
      const [, name] = /^Name:[ \t]*([\w.-]{1,200})[ \t]*\r?$/im.exec(head) ?? []
      const [, version] = /^Version:[ \t]*([\w.+!-]{1,200})[ \t]*\r?$/im.exec(head) ?? []
      if (name !== undefined && version !== undefined) return { name, version }
      throw environmentFailed(`${JSON.stringify(info.slice(0, 200))} has no name and version.`)
    }),
  )
}

async function readHead(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch (error) {
    if (['ENOENT', 'EISDIR'].includes(String((error as NodeJS.ErrnoException).code))) return ''
    throw error
  }
}

/** Throws ENVIRONMENT_FAILED unless each installed package belongs to an archive, and the other way round. */
function describe(
  packages: readonly EnvironmentPackage[],
  archives: ReadonlyMap<string, Archive>,
): PythonInstalled {
  const names = packages.map(({ name }) => normalized(name))
  const strange = [...names, ...archives.keys()].find(
    (name) => !archives.has(name) || names.filter((one) => one === name).length !== 1,
  )
  if (strange !== undefined)
    throw environmentFailed(`The package ${strange} is not what was downloaded under its name.`)
  const lines = packages.map(
    ({ name, version }) =>
      `${name}==${version} --hash=sha256:${archives.get(normalized(name))?.sha256 ?? ''}`,
  )
  return { packages: packages.toSorted(byName), lock: `${lines.toSorted().join('\n')}\n` }
}

/** Source: "Names and normalization", Python Packaging User Guide. */
function normalized(name: string): string {
  return name.replaceAll(/[-_.]+/g, '-').toLowerCase()
}

export function byName(a: EnvironmentPackage, b: EnvironmentPackage): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
