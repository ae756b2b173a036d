/**
 * Lists the paths that Lazaret's commands read or execute outside of cells. Nothing from a guest may be written there. They
 * are files with the name of a configuration file, other configured files, interpreters and the files that they load, and
 * Lazaret with its packages.
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

/** Ignores case, as some file systems do. */
export function isConfigName(name: string): boolean {
  return name.toLowerCase() === configFileName
}

/** Whether Node may load code from this path, for Lazaret's commands or for others. */
export function leadsToPackages(path: string): boolean {
  return path.toLowerCase().split('/').includes('node_modules')
}

/** Real paths of files and folders. A folder stands for everything in it. */
export function listProtected(
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

/** Real paths of Lazaret's dependencies, because links may lead out of `node_modules`. */
function dependencies(): string[] {
  const manifest = JSON.parse(readFileSync(join(ownFolder, 'package.json'), 'utf8')) as Manifest
  const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  return names.map((name) => findInPackage(name, '').path).filter((path) => path !== undefined)
}

export function isProtected(path: string, protectedPaths: readonly string[]): boolean {
  return protectedPaths.some((own) => path === own || path.startsWith(join(own, '/')))
}

function hasPython(folder: string): boolean {
  return existsSync(join(folder, 'python3'))
}

/**
 * The files that tell an interpreter in this folder where its library is, and the library, which it loads when asked.
 */
function filesOfPython(folder: string): string[] {
  const prefix = dirname(folder)
  // For a virtual environment, everything counts.
  if (existsSync(join(prefix, 'pyvenv.cfg'))) return [prefix]
  const inFolder = ['python3', 'pyvenv.cfg', 'pybuilddir.txt'].map((name) => join(folder, name))
  return [...inFolder, ...['pyvenv.cfg', 'lib', 'lib64'].map((name) => join(prefix, name))]
}

/** The path with the links of its folders resolved, and the path that it leads to. */
function realPaths(path: string): string[] {
  try {
    const place = join(realpathSync(dirname(path)), basename(path))
    return existsSync(place) ? [place, realpathSync(place)] : [place]
  } catch {
    // Its folder does not exist, so nothing reads it yet. But writing the output may create that folder.
    return [path]
  }
}
