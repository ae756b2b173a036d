/** Where configuration files may be. Nothing is read here, so a command without such a file need not load the reader. */
import { lstatSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'

export const configFileName = 'lazaret.config.json'

export interface ConfigurationPlaces {
  /** What `--config` says. */
  readonly flag?: string | undefined
  /** What `LAZARET_CONFIG` says. */
  readonly environment?: string | undefined
  /** The user's folder; undefined for a user without a home. */
  readonly user?: string | undefined
  readonly system: string
  /** Where the command runs. */
  readonly folder: string
}

export function usualPlaces(flag?: string): ConfigurationPlaces {
  const { LAZARET_CONFIG: environment, XDG_CONFIG_HOME: xdg = '' } = process.env
  const user = join(isAbsolute(xdg) ? xdg : join(homeFolder(), '.config'), 'lazaret')
  return {
    flag,
    environment: environment === '' ? undefined : environment,
    user: isAbsolute(user) ? user : undefined,
    system: '/etc/lazaret',
    folder: process.cwd(),
  }
}

/** Empty if neither the environment nor the system has a home folder for the user. */
function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return ''
  }
}

/** Whether there is any file to be read. */
export function isConfigured({ flag, environment, user, system, folder }: ConfigurationPlaces): boolean {
  if (flag !== undefined || environment !== undefined) return true
  const usual = [user, system].flatMap((place) => (place === undefined ? [] : [join(place, configFileName)]))
  return [...usual, ...pathsUpwards(folder)].some(isThere)
}

/** Starts with the folder itself. */
export function* pathsUpwards(folder: string): Generator<string> {
  for (let current = resolve(folder); ; current = dirname(current)) {
    yield join(current, configFileName)
    if (dirname(current) === current) return
  }
}

/** A folder that this user may not search counts as empty. */
export function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}
