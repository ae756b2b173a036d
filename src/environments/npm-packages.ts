/** Installs npm packages. Their install scripts run only if they are allowed, in another sandbox. */
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import type { BuildSandboxes } from './build-sandboxes.ts'
import type { EnvironmentPackage, EnvironmentSpec } from './environment.ts'
import type { Installer } from './installer.ts'
import { readInstalledNpm } from './npm-lock.ts'
import { byName } from './python-packages.ts'
import { quote } from './quote.ts'

/** The folder in which npm works. */
const npmProject = '/workspace/out/npm'
/** The sandbox's folder of installed packages. */
const npmOut = `${npmProject}/node_modules`

/** A thousand packages need an eighth of it. */
const textBytesMax = 4 * 1024 * 1024

/**
 * A shell function that runs npm without V8's threads. At the end of a process, Node waits for a thread that may be
 * compiling, and the thread may wait for a garbage collection by the main thread: on a busy machine npm hung for ever
 * in 2 of about 600 starts (nodejs/node#54918). An `npm` that is not a script of Node starts as it is.
 */
const npmFunction = [
  'npm() { local file first;',
  'file=$(readlink -f "$(type -P npm)"); read -r first <"$file";',
  'if [[ $first == "#!"*node* ]]; then node --single-threaded "$file" "$@"; else command npm "$@"; fi; };',
].join(' ')

export interface NpmInstalled {
  readonly packages: readonly EnvironmentPackage[]
  readonly lock: { readonly manifest: string; readonly lockFile: string }
}

interface Places {
  /** A folder of the host, for the build alone. */
  readonly staged: string
  /** Where the installed packages go. */
  readonly to: string
}

/** Undefined if the request names no npm packages. */
export async function installNpm(
  sandboxes: BuildSandboxes,
  spec: EnvironmentSpec,
  { staged, to }: Places,
): Promise<NpmInstalled | undefined> {
  const { npm = [], npmTarballs = [], allowScripts = [], lock: asked } = spec
  if (npm.length + npmTarballs.length === 0 && asked?.npm === undefined) return undefined
  const packed = join(staged, 'npm.tar')
  const lock = await sandboxes.withSources(async (installer) => {
    const written = await install(installer, spec, sandboxes)
    if (allowScripts.length === 0) await takeOut(installer, to)
    else await pack(installer, packed)
    return written
  })
  // They run when nothing of them can change the lock any more.
  if (allowScripts.length > 0)
    await sandboxes.alone(async (installer) => {
      await installer.sandbox.uploadTar(createReadStream(packed), { path: npmProject })
      await runScripts(installer, allowScripts)
      await takeOut(installer, to)
    }, [])
  const packages = await readInstalledNpm(to, lock.lockFile)
  return { packages: packages.toSorted(byName), lock }
}

/** No code of packages runs. Returns what npm has written. */
async function install(
  installer: Installer,
  { npm = [], lock, offline = false }: EnvironmentSpec,
  { local: { tarballs, cache } }: BuildSandboxes,
): Promise<NpmInstalled['lock']> {
  const { sandbox } = installer
  await sandbox.mkdir(npmProject, { recursive: true })
  await sandbox.writeFile(`${npmProject}/package.json`, lock?.npm?.manifest ?? '{ "private": true }\n')
  if (lock?.npm !== undefined) await sandbox.writeFile(`${npmProject}/package-lock.json`, lock.npm.lockFile)
  const options = '--ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel error'
  const words = [
    npmFunction,
    ...(cache === undefined
      ? []
      : [`cp -r ${quote(cache)} /workspace/cache && export npm_config_cache=/workspace/cache &&`]),
    `cd ${npmProject} &&`,
    lock?.npm === undefined ? `npm install ${options}` : `npm ci ${options}`,
    ...(offline ? ['--offline'] : []),
    ...(lock?.npm === undefined ? ['--', ...[...npm, ...tarballs].map(quote)] : []),
  ]
  await installer.run({
    step: 'install-npm',
    command: words.join(' '),
    offlineHint: offline ? offlineHint : undefined,
  })
  return {
    manifest: await installer.read(`${npmProject}/package.json`, textBytesMax),
    lockFile: await installer.read(`${npmProject}/package-lock.json`, textBytesMax),
  }
}

async function pack({ sandbox }: Installer, to: string): Promise<void> {
  await pipeline(sandbox.downloadTar({ path: npmProject }), createWriteStream(to, { mode: 0o600 }))
}

async function takeOut(installer: Installer, to: string): Promise<void> {
  await replaceBinLinks(installer)
  await installer.takeOut(npmOut, to)
}

const offlineHint =
  'Offline, npm packages come only from tarballs and a cache: name them with `--npm-tarball` (`npmTarballs`) and `--npm-cache` (`npmCache`).'

/** Runs the install scripts that the request allows. The sandbox has no network. */
async function runScripts(installer: Installer, packages: readonly string[]): Promise<void> {
  const names = packages.map(quote).join(' ')
  await installer.run({
    step: 'run-scripts',
    command: `${npmFunction} cd ${npmProject} && npm rebuild --offline -- ${names}`,
  })
}

/**
 * npm installs commands as links in `.bin`, but a build may not contain links. So each link becomes a small script,
 * which starts its target by the target's path under `.bin`, as the link did.
 */
const replaceLinks = (folder: string) => `
const { readdirSync, readlinkSync, rmSync, writeFileSync } = require('node:fs')
const folder = ${JSON.stringify(folder)}
for (const name of readdirSync(folder)) {
  const path = folder + '/' + name
  const target = readlinkSync(path).replaceAll("'", "'\\\\''")
  rmSync(path)
  writeFileSync(path, '#!/bin/sh\\nexec "\${0%/*}/"\\'' + target + '\\' "$@"\\n', { mode: 0o755 })
}
`

async function replaceBinLinks(installer: Installer): Promise<void> {
  const folder = `${npmOut}/.bin`
  if (!(await installer.sandbox.exists(folder))) return
  await installer.run({
    step: 'compile',
    command: `node --single-threaded -e ${quote(replaceLinks(folder))}`,
  })
}
