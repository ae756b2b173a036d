/**
 * Finds where this machine's own pip and npm get their packages, from their variables and configuration files. Sources:
 * pip's documentation, "Configuration"; npm's documentation, "npmrc".
 */
import { readFileSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { homeFolder } from './environments-folder.ts'
import type { Bind } from '../jail/plan/shape.ts'

/** Variables for installers in a sandbox, and the host folders that these variables name. */
export interface PackageSources {
  readonly variables: Readonly<Record<string, string>>
  readonly binds: readonly Bind[]
  /** URLs of pip's index and npm's registry, if they are configured. */
  readonly index: string | undefined
  readonly registry: string | undefined
  /** Further indexes. */
  readonly moreIndexes: readonly string[]
}

type Variables = Readonly<Record<string, string | undefined>>

/** pip's settings, named as in its variables. */
const pipSettings = ['index_url', 'extra_index_url', 'find_links', 'trusted_host'] as const
const sourcesFolder = '/opt/lazaret/sources'

export function findPackageSources(environment: Variables): PackageSources {
  const shown = new Map<string, string>()
  const show = (setting: string, place: string): string => {
    const folder = localFolder(place)
    if (folder === undefined) return withoutPassword(place)
    // The pages of an index link to files next to the index folder.
    const host = setting.endsWith('index_url') && dirname(folder) !== '/' ? dirname(folder) : folder
    const guest = shown.get(host) ?? `${sourcesFolder}/${shown.size}`
    shown.set(host, guest)
    const path = join(guest, relative(host, folder))
    return place.startsWith('file:') ? `file://${path}` : path
  }
  const pip = pipSettings.flatMap((name) => {
    const value =
      environment[`PIP_${name.toUpperCase()}`] ?? pipSetting(name.replaceAll('_', '-'), environment)
    return value === undefined
      ? []
      : [
          [
            `PIP_${name.toUpperCase()}`,
            value
              .split(/\s+/)
              .map((place) => show(name, place))
              .join(' '),
          ],
        ]
  })
  const registry = environment['npm_config_registry'] ?? npmSetting('registry', environment)
  const variables: Record<string, string> & { PIP_INDEX_URL?: string; PIP_EXTRA_INDEX_URL?: string } = {
    ...(Object.fromEntries(pip) as Record<string, string>),
    ...(registry === undefined ? {} : { npm_config_registry: withoutPassword(registry) }),
  }
  const { PIP_INDEX_URL: index, PIP_EXTRA_INDEX_URL: more = '' } = variables
  return {
    variables,
    binds: [...shown].map(([host, guest]) => ({ host, guest })),
    index,
    registry,
    moreIndexes: more.split(' '),
  }
}

/** Untrusted build code can read these variables. */
function withoutPassword(place: string): string {
  if (!URL.canParse(place)) return place
  const url = new URL(place)
  if (url.username === '' && url.password === '') return place
  url.username = ''
  url.password = ''
  return url.href
}

function localFolder(place: string): string | undefined {
  const path = place.startsWith('file://') ? pathOf(place) : place
  return path?.startsWith('/') === true && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    ? path
    : undefined
}

function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}

/** Later files override earlier ones: the machine's file comes first, then the user's. */
function pipSetting(name: string, environment: Variables): string | undefined {
  const home = environment['HOME'] ?? homeFolder() ?? '/'
  const settings = environment['XDG_CONFIG_HOME'] ?? join(home, '.config')
  const files = [
    '/etc/pip.conf',
    join(home, '.pip/pip.conf'),
    join(settings, 'pip/pip.conf'),
    ...(environment['PIP_CONFIG_FILE'] === undefined ? [] : [environment['PIP_CONFIG_FILE']]),
  ]
  return files.flatMap((file) => iniSetting(file, name) ?? []).at(-1)
}

/** Reads the sections `global` and `install`. A value may continue in indented lines. */
function iniSetting(file: string, name: string): string | undefined {
  let section = ''
  let found: string[] | undefined
  let isOpen = false
  for (const line of readLines(file)) {
    const [, head] = /^\s*\[(\w+)\]/.exec(line) ?? []
    const [, key, value = ''] = /^([\w-]+)\s*[=:]\s*(.*)$/.exec(line) ?? []
    if (head !== undefined) [section, isOpen] = [head, false]
    else if (key !== undefined) {
      isOpen = key.replaceAll('_', '-') === name && (section === 'global' || section === 'install')
      if (isOpen) found = [value]
    } else if (isOpen && /^\s+\S/.test(line)) found?.push(line.trim())
  }
  const text = found?.join(' ').trim()
  return text === '' ? undefined : text
}

function npmSetting(name: string, environment: Variables): string | undefined {
  const files = [
    '/etc/npmrc',
    environment['npm_config_userconfig'] ?? join(environment['HOME'] ?? homeFolder() ?? '/', '.npmrc'),
  ]
  const values = files.flatMap(readLines).flatMap((line) => {
    const [, key, value] = /^\s*([\w-]+)\s*=\s*(\S+)\s*$/.exec(line) ?? []
    return key === name && value !== undefined ? [value] : []
  })
  return values.at(-1)
}

/** The file names servers to reach and folders to show, so only root and this user may be able to write to it. */
function isOurs({ uid, mode }: Stats): boolean {
  return (uid === 0 || uid === process.geteuid?.()) && (mode & groupAndOthersWrite) === 0
}

const groupAndOthersWrite = 0o022

function readLines(file: string): string[] {
  try {
    const facts = statSync(file, { throwIfNoEntry: false })
    return facts !== undefined && isOurs(facts) ? readFileSync(file, 'utf8').split('\n') : []
  } catch {
    // This user may not read it.
    return []
  }
}
