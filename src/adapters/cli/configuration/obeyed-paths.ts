/**
 * What Lazaret's commands read or execute outside of any cell, so nothing from a guest may be written there: files that
 * are configuration by their name, those that are named as configuration, what interpreters are and load, and our own
 * program with its packages.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'

import { findInPackage, ownFolder } from '../../../runtimes/packages/own-packages.ts'
import type { ToolchainPaths } from '../../../runtimes/packages/toolchains.ts'
import { configFileName } from './config-places.ts'
import type { ConfigurationPlaces } from './config-places.ts'

interface Manifest {
  readonly dependencies?: object
  readonly optionalDependencies?: object
}

/** Some file systems know no case. */
export function isConfigName(name: string): boolean {
  return name.toLowerCase() === configFileName
}

/** Whether code lies on this path that Node loads for our commands, or for any others. */
export function leadsToPackages(path: string): boolean {
  return path.toLowerCase().split('/').includes('node_modules')
}

/** Real paths of files and folders. Those of folders stand for all that is in them. */
export function listObeyed(
  { flag, environment, folder }: Pick<ConfigurationPlaces, 'flag' | 'environment' | 'folder'>,
  toolchains: ToolchainPaths = {},
): string[] {
  const configurations = [flag, environment].flatMap((path) =>
    path === undefined ? [] : resolve(folder, path),
  )
  const programs = Object.values(toolchains).filter((path) => path !== undefined)
  const searched = (process.env['PATH'] ?? '').split(':').filter(isAbsolute)
  const pythons = [...programs.map((path) => dirname(path)), ...searched.filter(hasPython)]
  const files = [...configurations, ...programs, process.execPath, ...pythons.flatMap(filesOfPython)]
  return [ownFolder, ...dependencies(), ...files.flatMap(realPaths)]
}

/** Our packages, where links lead out of the folders `node_modules`. */
function dependencies(): string[] {
  const manifest = JSON.parse(readFileSync(join(ownFolder, 'package.json'), 'utf8')) as Manifest
  const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  return names.map((name) => findInPackage(name, '').path).filter((path) => path !== undefined)
}

export function isObeyed(path: string, obeyed: readonly string[]): boolean {
  return obeyed.some((own) => path === own || path.startsWith(join(own, '/')))
}

function hasPython(folder: string): boolean {
  return existsSync(join(folder, 'python3'))
}

/** What tells an interpreter in this folder where its library is, and the library, which it loads before it answers us. */
function filesOfPython(folder: string): string[] {
  const prefix = dirname(folder)
  // Of a virtual environment, everything.
  if (existsSync(join(prefix, 'pyvenv.cfg'))) return [prefix]
  const inFolder = ['python3', 'pyvenv.cfg', 'pybuilddir.txt'].map((name) => join(folder, name))
  return [...inFolder, ...['pyvenv.cfg', 'lib', 'lib64'].map((name) => join(prefix, name))]
}

/** Where it is, behind the links of its folders, and where it leads. */
function realPaths(path: string): string[] {
  try {
    const place = join(realpathSync(dirname(path)), basename(path))
    return existsSync(place) ? [place, realpathSync(place)] : [place]
  } catch {
    // Its folder is not there, so that nothing obeys it yet; it may be made by what is written.
    return [path]
  }
}
