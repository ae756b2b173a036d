/**
 * Which configuration files apply, and the resulting configuration.
 *
 * The trusted file may set every option: the one that `--config` or `LAZARET_CONFIG` names, else the user's, else the
 * system's. If none is named, each `lazaret.config.json` from the current folder upwards may narrow what that file says.
 * Only root and this user may be able to write to these files and to the folders on their paths.
 */
import { realpathSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'

import type { LazaretOptions } from '../../../engine/options/options.ts'
import type { Intruder } from '../../../runtimes/packages/own-path.ts'
import { type ConfigDocument, parseConfig, parseFoundConfig } from './config-file.ts'
import { configFileName, isThere, pathsUpwards } from './config-places.ts'
import type { ConfigurationPlaces } from './config-places.ts'
import { findWidening, narrow } from '../options/narrow-options.ts'
import { type ConfigText, readConfig } from './read-config.ts'
import type { ServeConfig } from '../serve-config.ts'
import { toSingleLine } from '../output/terminal-text.ts'
import { UsageError } from '../options/usage-error.ts'

export interface ConfigurationFile {
  readonly path: string
  readonly from: 'flag' | 'environment' | 'user' | 'system' | 'found'
  readonly use: 'full' | 'narrows' | 'none'
  /** Why the file is ignored. */
  readonly reason?: string
}

export interface Configuration {
  readonly options: LazaretOptions
  readonly serve?: ServeConfig
  readonly files: readonly ConfigurationFile[]
}

/** A file that the operator chose may be in a volume of Kubernetes, whose folders have mode 0777 on a read-only mount. */
const volumes = { readOnlyMounts: true }

export async function loadConfiguration(places: ConfigurationPlaces): Promise<Configuration> {
  const named = namedFile(places)
  if (named !== undefined) {
    const text = await readConfig(named.path, volumes)
    if (text === undefined)
      throw new UsageError(
        `cannot read ${shown(named.path)}: no such file.`,
        'Check the path that was given.',
      )
    return { ...splitDocument(parseTrusted(text, named.path)), files: [named] }
  }
  const base = await loadBase(places)
  return narrowByFound(base, places.folder)
}

function namedFile({ flag, environment, folder }: ConfigurationPlaces): ConfigurationFile | undefined {
  if (flag !== undefined) return { path: resolve(folder, flag), from: 'flag', use: 'full' }
  if (environment === undefined) return undefined
  // A relative path would name a different file in every folder, maybe one of another user.
  if (!isAbsolute(environment))
    throw new UsageError(
      `LAZARET_CONFIG must be an absolute path, not ${shown(environment)}.`,
      'Write the whole path, or name the file with --config.',
    )
  return { path: resolve(environment), from: 'environment', use: 'full' }
}

async function loadBase({ user, system }: ConfigurationPlaces): Promise<Configuration> {
  for (const [from, folder] of [
    ['user', user],
    ['system', system],
  ] as const) {
    if (folder === undefined) continue
    const path = join(folder, configFileName)
    const text = await readConfig(path, volumes)
    if (text !== undefined)
      return { ...splitDocument(parseTrusted(text, path)), files: [{ path, from, use: 'full' }] }
  }
  return { options: {}, files: [] }
}

function splitDocument({ serve, ...options }: ConfigDocument): Pick<Configuration, 'options' | 'serve'> {
  return { options, ...(serve !== undefined && { serve }) }
}

/** Stops the command if a file that should apply cannot be trusted, because without it other rules would apply. */
function parseTrusted(read: ConfigText, path: string, parse = parseConfig): ConfigDocument {
  if ('text' in read) return parse(read.text, path)
  throw new UsageError(
    `${shown(path)} cannot be trusted: ${shown(read.intruder.reason)}.`,
    "A configuration and the folders that lead to it must be root's or yours, and writable by nobody else (chmod go-w).",
  )
}

async function narrowByFound(base: Configuration, folder: string): Promise<Configuration> {
  const files: ConfigurationFile[] = [...base.files]
  let { options } = base
  for (const path of pathsUpwards(folder)) {
    if (base.files.some((file) => isSame(file.path, path))) continue
    const read = isThere(path) ? await readConfig(path) : undefined
    if (read === undefined) continue
    if ('intruder' in read && !isOwnMistake(path, read.intruder)) {
      files.push({ path, from: 'found', use: 'none', reason: read.intruder.reason })
      continue
    }
    const wish = parseTrusted(read, path, parseFoundConfig)
    const own = splitDocument(wish)
    const widening = findWidening(base.options, own.options)
    refuseWidening(path, own.serve === undefined ? widening : [...widening, '`serve`'])
    options = narrow(options, own.options)
    files.push({ path, from: 'found', use: 'narrows' })
  }
  return { ...base, options, files }
}

/**
 * Anybody can put a file into /tmp. Such a file is ignored, because using it, or stopping because of it, would give its
 * author control over this command. But if the file belongs to this user or root, and others can write to it, the command
 * stops, because its limits were intended.
 */
function isOwnMistake(path: string, { by, path: place }: Intruder): boolean {
  return by === 'mode' && place === path
}

function isSame(one: string, other: string): boolean {
  try {
    return one === other || realpathSync(one) === realpathSync(other)
  } catch {
    return false
  }
}

function refuseWidening(path: string, wishes: readonly string[]): void {
  if (wishes.length === 0) return
  throw new UsageError(
    `${shown(path)} was found in this folder or one above it, so it may only narrow; it asks for ${wishes.join(', ')}.`,
    `If you have read and trust it, allow it with --config ${shown(path)}; otherwise remove it.`,
  )
}

/** Messages for the user about the files that were found, one line each. */
export function describeFound(files: readonly ConfigurationFile[]): string[] {
  const narrowing = files.filter(({ from, use }) => from === 'found' && use === 'narrows')
  const ignored = files.filter(({ use }) => use === 'none')
  return [
    ...(narrowing.length === 0
      ? []
      : [`narrowed by ${narrowing.map(({ path }) => path).join(', ')}, found in this folder or above.`]),
    ...ignored.map(({ path, reason }) => `ignored ${path}: ${reason}.`),
  ]
}

const pathLengthMax = 4096

/** Other users may have chosen the names of folders. */
function shown(text: string): string {
  return toSingleLine(text, pathLengthMax)
}
