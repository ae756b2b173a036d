/**
 * Packages that the operator provides to all guests: the guest paths of their folders, and how each language finds them.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import { pathIn } from '../../jail/plan/place.ts'
import type { Place } from '../../jail/plan/place.ts'
import type { Bind } from '../../jail/plan/shape.ts'

/** Folders of the host. */
export interface PackageFolders {
  /** Each becomes an import path, in this order, before the interpreter's own packages. */
  readonly python?: readonly string[]
  /** A `node_modules`. */
  readonly node?: string
}

const pythonFolder = '/opt/lazaret/packages'
/** Node and Bun search for packages in every folder above the program's. */
const nodeFolder = '/node_modules'

const pythonBinds = ({ python = [] }: PackageFolders): Bind[] =>
  python.map((host, index) => ({ host, guest: `${pythonFolder}/${index}` }))

/** Folders of the host that guests see in addition to their toolchains. */
export interface ShownFolders {
  readonly readable: readonly Bind[]
  readonly packages: PackageFolders
}

/** The packages of one environment, which never change. */
export interface GuestEnvironment {
  readonly hash: string
  readonly packages: PackageFolders
}

/**
 * Merges an environment's packages, which come first, with the operator's, and adds their binds to `readable`. Throws
 * INVALID_REQUEST if `readable` already uses the path of a package folder.
 */
export function showFolders(
  { readable, packages: usual }: ShownFolders,
  environment?: GuestEnvironment,
): ShownFolders {
  const { python = [], node } = environment?.packages ?? {}
  const packages = {
    ...usual,
    python: [...python, ...(usual.python ?? [])],
    ...(node === undefined ? {} : { node }),
  }
  return { packages, readable: [...readable, ...pythonBinds(packages), ...nodeBinds(packages, readable)] }
}

function nodeBinds({ node }: PackageFolders, readable: readonly Bind[]): Bind[] {
  if (node === undefined) return []
  if (readable.some(({ guest }) => guest === nodeFolder))
    throw new LazaretError('INVALID_REQUEST', {
      detail: `Options: packages.node: \`readable\` shows another folder as ${nodeFolder}.`,
    })
  return [{ host: node, guest: nodeFolder }]
}

/** The import paths of Python, as guests find them. */
export function pythonPaths(packages: PackageFolders, place: Place): string[] {
  return pythonBinds(packages).map((bind) => pathIn(place, bind))
}

/** Environment variables with which the programs that guests start find the packages. */
export function packageVariables(packages: PackageFolders, place: Place): Record<string, string> {
  const paths = pythonPaths(packages, place)
  return {
    ...(paths.length === 0 ? {} : { PYTHONPATH: paths.join(':') }),
    // Without the guest's own view of files, no folder can be mounted above the workspace.
    ...(packages.node === undefined || place.work === null ? {} : { NODE_PATH: packages.node }),
  }
}

/** Folders of the packages' commands, for PATH. */
export function packageCommands(packages: PackageFolders, place: Place): string[] {
  const { node } = packages
  const commands = node === undefined ? [] : [`${pathIn(place, { host: node, guest: nodeFolder })}/.bin`]
  return [...pythonPaths(packages, place).map((path) => `${path}/bin`), ...commands]
}
