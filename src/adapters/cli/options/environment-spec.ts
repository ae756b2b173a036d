/** Turns the flags of `env create`, and the files that they name, into a request for an environment. */
import { resolve } from 'node:path'

import type { EnvironmentLock, EnvironmentSpec } from '../../../environments/environment.ts'
import { readFileBounded } from './bounded-read.ts'
import { UsageError } from './usage-error.ts'

export interface EnvironmentFlags {
  readonly python?: readonly string[]
  readonly npm?: readonly string[]
  readonly requirements?: string
  readonly packageJson?: string
  readonly findLinks?: readonly string[]
  readonly npmTarball?: readonly string[]
  readonly npmCache?: string
  readonly offline?: boolean
  readonly allowScripts?: readonly string[]
  readonly lock?: string
}

const textBytesMax = 16 * 1024 * 1024

export async function readEnvironmentSpec(flags: EnvironmentFlags): Promise<EnvironmentSpec> {
  const { requirements, packageJson, findLinks, npmTarball, npmCache, offline, allowScripts } = flags
  const required =
    requirements === undefined ? {} : readRequirements(await readText(requirements), requirements)
  const python = [...(flags.python ?? []), ...(required.python ?? [])]
  const dependencies =
    packageJson === undefined ? [] : readDependencies(await readText(packageJson), packageJson)
  const npm = [...(flags.npm ?? []), ...dependencies]
  const named = flags.lock === undefined ? undefined : readLock(await readText(flags.lock), flags.lock)
  const lock = { ...(required.lock === undefined ? {} : { python: required.lock }), ...named }
  return {
    ...(python.length > 0 && { python }),
    ...(npm.length > 0 && { npm }),
    ...(findLinks !== undefined && { findLinks: findLinks.map((path) => resolve(path)) }),
    ...(npmTarball !== undefined && { npmTarballs: npmTarball.map((path) => resolve(path)) }),
    ...(npmCache !== undefined && { npmCache: resolve(npmCache) }),
    ...(offline === true && { offline }),
    ...(allowScripts !== undefined && { allowScripts }),
    ...(Object.keys(lock).length > 0 && { lock }),
  }
}

async function readText(path: string): Promise<string> {
  const signal = new AbortController().signal
  return (await readFileBounded(path, { bytesMax: textBytesMax, signal })).toString('utf8')
}

/** A requirements file: lines of packages. Options of pip are refused, because they name other files and sources. */
function readRequirements(
  text: string,
  path: string,
): { readonly python?: string[]; readonly lock?: string } {
  const lines = text
    .replaceAll(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
  const option = lines.find((line) => line.startsWith('-'))
  if (option !== undefined)
    throw new UsageError(`${path} has the option ${JSON.stringify(option)}.`, 'Name only packages in it.')
  const isLock = lines.length > 0 && lines.every((line) => line.includes('--hash='))
  return isLock ? { lock: `${lines.join('\n')}\n` } : { python: lines }
}

function readDependencies(text: string, path: string): string[] {
  const { dependencies } = readObject(text, path)
  if (typeof dependencies !== 'object' || dependencies === null) return []
  return Object.entries(dependencies).map(([name, range]) => {
    if (typeof range === 'string' && /^[\w.^~<>=|*+ -]*$/.test(range))
      return range === '' ? name : `${name}@${range}`
    throw new UsageError(
      `${path}: ${name} does not come from a registry.`,
      'Pack it with `npm pack` and name the tarball: --npm-tarball <file>',
    )
  })
}

function readLock(text: string, path: string): EnvironmentLock {
  const { lock } = readObject(text, path)
  if (typeof lock === 'object' && lock !== null) return lock
  throw new UsageError(
    `${path} has no lock.`,
    'Write one with: lazaret env inspect <name> --json > lock.json',
  )
}

function readObject(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // The error below covers this, too.
  }
  throw new UsageError(`${path} is not a JSON object.`, 'Check the path.')
}
