/** Installs packages of npm, and reads from its lock file what was installed. */
import { z } from 'zod'

import type { EnvironmentPackage, EnvironmentSpec } from './environment.ts'
import type { Installer } from './installer.ts'
import { byName } from './python-packages.ts'
import { quote } from './quote.ts'
import { readSummary } from './summary.ts'

/** The folder in which npm works. */
export const npmProject = '/workspace/out/npm'
/** Where they lie in the sandbox. */
export const npmOut = `${npmProject}/node_modules`

/** Of a thousand packages: an eighth of this, and a tenth. */
const textBytesMax = 4 * 1024 * 1024
const summaryBytesMax = 1024 * 1024

/** What is wanted of the lock file is picked inside. */
const summarize = `
const { packages } = require('${npmProject}/package-lock.json')
for (const [path, { version }] of Object.entries(packages))
  if (path !== '' && version !== undefined) console.log(JSON.stringify([path.split('node_modules/').at(-1), version]))
`

export const npmSummary = z.tuple([
  z.string().regex(/^[\w.@/~-]{1,300}$/),
  z.string().regex(/^[\w.+-]{1,300}$/),
])

export interface NpmInstalled {
  readonly packages: readonly EnvironmentPackage[]
  readonly lock: { readonly manifest: string; readonly lockFile: string }
}

export interface LocalPackages {
  /** Tarballs, as guests find them. */
  readonly tarballs: readonly string[]
  /** A read-only cache. */
  readonly cache: string | undefined
}

/** Undefined when nothing was asked for. No script of a package runs. */
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
    ...(cache === undefined
      ? []
      : [`cp -r ${quote(cache)} /workspace/cache && export npm_config_cache=/workspace/cache &&`]),
    `cd ${npmProject} &&`,
    lock?.npm === undefined ? `npm install ${options}` : `npm ci ${options}`,
    ...(offline ? ['--offline'] : []),
    ...(lock?.npm === undefined ? ['--', ...[...npm, ...tarballs].map(quote)] : []),
  ]
  await installer.run({ step: 'install-npm', command: words.join(' ') })
  const summary = await installer.ask(`node -e ${quote(summarize)}`, summaryBytesMax)
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

/** In a sandbox without a network: the scripts of packages that the operator trusts with that. */
export async function runScripts(installer: Installer, packages: readonly string[]): Promise<void> {
  const names = packages.map(quote).join(' ')
  await installer.run({
    step: 'run-scripts',
    command: `cd ${npmProject} && npm rebuild --offline -- ${names}`,
  })
}

/**
 * npm makes links of the commands in `.bin`, and no link leaves a build: small scripts take their place. What a program
 * of JavaScript is called with is its own path, as it would be through a link.
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
  await installer.run({ step: 'compile', command: `node -e ${quote(replaceLinks(folder))}` })
}
