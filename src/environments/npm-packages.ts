/** Installs npm packages, and reads from npm's lock file what was installed. */
import { z } from 'zod'

import type { EnvironmentPackage, EnvironmentSpec } from './environment.ts'
import type { Installer } from './installer.ts'
import { byName } from './python-packages.ts'
import { quote } from './quote.ts'
import { readSummary } from './summary.ts'

/** The folder in which npm works. */
export const npmProject = '/workspace/out/npm'
/** The sandbox's folder of installed packages. */
export const npmOut = `${npmProject}/node_modules`

/** A thousand packages need an eighth of the first and a tenth of the second. */
const textBytesMax = 4 * 1024 * 1024
const summaryBytesMax = 1024 * 1024

/** Runs inside the sandbox and prints only the needed parts of the lock file. */
const summarize = `
const { packages } = require('${npmProject}/package-lock.json')
for (const [path, { version }] of Object.entries(packages))
  if (path !== '' && version !== undefined) console.log(JSON.stringify([path.split('node_modules/').at(-1), version]))
`

export const npmSummary = z.tuple([
  z.string().regex(/^[\w.@/~-]{1,300}$/),
  z.string().regex(/^[\w.+-]{1,300}$/),
])

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

export interface LocalPackages {
  /** Guest paths of tarballs. */
  readonly tarballs: readonly string[]
  /** Guest path of a read-only cache. */
  readonly cache: string | undefined
}

/** Undefined if the request names no npm packages. Install scripts do not run. */
export async function installNpm(
  installer: Installer,
  { npm = [], lock, offline = false }: EnvironmentSpec,
  { tarballs, cache }: LocalPackages,
): Promise<NpmInstalled | undefined> {
  if (npm.length + tarballs.length === 0 && lock?.npm === undefined) return undefined
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
  const summary = await installer.ask(`node --single-threaded -e ${quote(summarize)}`, summaryBytesMax)
  return {
    packages: readSummary(summary, npmSummary)
      .map(([name, version]) => ({ name, version }))
      .toSorted(byName),
    lock: {
      manifest: await installer.read(`${npmProject}/package.json`, textBytesMax),
      lockFile: await installer.read(`${npmProject}/package-lock.json`, textBytesMax),
    },
  }
}

const offlineHint =
  'Offline, npm packages come only from tarballs and a cache: name them with `--npm-tarball` (`npmTarballs`) and `--npm-cache` (`npmCache`).'

/** Runs the install scripts that the request allows. The sandbox has no network. */
export async function runScripts(installer: Installer, packages: readonly string[]): Promise<void> {
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

export async function replaceBinLinks(installer: Installer): Promise<void> {
  const folder = `${npmOut}/.bin`
  if (!(await installer.sandbox.exists(folder))) return
  await installer.run({
    step: 'compile',
    command: `node --single-threaded -e ${quote(replaceLinks(folder))}`,
  })
}
