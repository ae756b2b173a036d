/** Python: CPython in isolated mode, with the harness in guest.py. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import type { RunSpec } from '../../core/request.ts'
import { writeGuestRequest } from '../work/guest-request.ts'
import { pathIn } from '../../jail/plan/place.ts'
import type { Bind } from '../../jail/plan/shape.ts'
import { packageCommands, packageVariables, pythonPaths } from '../packages/guest-packages.ts'
import { buildIn } from '../packages/package-files.ts'
import type { PythonToolchain } from '../packages/python-question.ts'
import { guestEnvironment, workspaceFiles } from '../runtime.ts'
import { readsLate } from '../work/late-variables.ts'
import type { Program, Runtime } from '../runtime.ts'
import type { Toolchains } from '../packages/toolchains.ts'
import { planPythonZygote } from './zygote.ts'

/** Cells show an interpreter at its own path. In these folders that is impossible, because each guest has its own. */
const guestOwnFolders = ['/tmp/', '/workspace/', '/dev/', '/proc/', '/run/']
/** The folders in which commands search for programs, in this order. */
const usualFolders = ['/usr/local/bin', '/usr/bin', '/bin']

/** The data that the interpreter reserves before it runs anything. */
export const pythonDataBytes = 16 * 1024 * 1024

/** A folder of the interpreter that cannot be shown to guests. */
function findHidden({ folders }: PythonToolchain): string | undefined {
  return folders.find((folder) => guestOwnFolders.some((own) => `${folder}/`.startsWith(own)))
}

/**
 * Makes commands find the same `python3` as runs: returns the folders to show, and the folder to search first. Empty if
 * commands find it anyway, if it cannot be shown, or if there is no `python3` in its folder.
 */
export function showPython(python: PythonToolchain | null): ShownPython {
  if (python === null) return { binds: [] }
  const known = shownBefore.get(python) ?? findShown(python)
  shownBefore.set(python, known)
  return known
}

interface ShownPython {
  readonly binds: readonly Bind[]
  readonly folder?: string
}

/** Every command and sandbox asks, and the answer takes a dozen system calls. */
const shownBefore = new WeakMap<PythonToolchain, ShownPython>()

function findShown(python: PythonToolchain): ShownPython {
  if (findHidden(python) !== undefined) return { binds: [] }
  const usual = usualFolders.map((folder) => `${folder}/python3`).find((path) => existsSync(path))
  const folder = dirname(python.path)
  const isUsual = usual !== undefined && realpathSync(usual) === python.path
  const own = `${folder}/python3`
  if (isUsual || !existsSync(own) || realpathSync(own) !== realpathSync(python.path)) return { binds: [] }
  return { binds: python.folders.map((host) => ({ host, guest: host })), folder }
}

/** Throws RUNTIME_UNAVAILABLE if there is no Python for guests. */
export function requirePython(toolchains: Toolchains, isOwnView: boolean): PythonToolchain {
  const python = toolchains.pythonOf({ isOwnView })
  if (python === null) {
    throw toolchains.refuse('python', {
      detail: 'No Python 3 was found.',
      hint: 'Install python3 (3.9 or later), or name one in `toolchains.python`.',
    })
  }
  const hidden = isOwnView ? findHidden(python) : undefined
  if (hidden !== undefined) {
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail: `This Python is in ${hidden}, which is private to each guest.`,
      hint: 'Install it elsewhere, or name another one in `toolchains.python`.',
    })
  }
  return python
}

export const pythonRuntime: Runtime = {
  name: 'python',
  languages: ['python'],
  parks: 'program',
  readsLate: readsLate(/^PYTHON/),
  toolchain: {
    find: (toolchains) => toolchains.python()?.path ?? null,
    version: (toolchains) => toolchains.python()?.version,
    fix: () => 'Install python3 (3.9 or later).',
    isShown: false,
  },
  zygote: {
    plan({ preload, readable, packages, toolchains }) {
      const python = toolchains.python({ forEverybody: false })
      return python === null ? null : planPythonZygote(python, { preload, readable, packages })
    },
  },
  prepare(spec, limits, { toolchains, packages, place }): Program {
    const isOwnView = place.work === null
    const python = requirePython(toolchains, isOwnView)
    const build = buildIn(place)
    return {
      file: python.path,
      argv: [
        python.path,
        ...isolation(spec),
        '-X',
        'utf8',
        `${pathIn(place, build)}/runtimes/python/guest.py`,
        ...pythonPaths(packages, place),
      ],
      env: {
        ...packageVariables(packages, place),
        ...guestEnvironment(spec, place, [dirname(python.path), ...packageCommands(packages, place)]),
      },
      binds: [build, ...python.folders.map((folder) => ({ host: folder, guest: folder }))],
      files: workspaceFiles(spec, place),
      guestRequest: writeGuestRequest('python', spec, limits),
      baseDataBytes: pythonDataBytes,
    }
  },
}

/**
 * In isolated mode the interpreter ignores the environment and the current folder. If a request sets variables of Python
 * (PYTHONPATH for folders that `readable` shows, PYTHONHASHSEED, …), they must have an effect, so the mode is off.
 */
function isolation(spec: RunSpec): readonly string[] {
  const asksPython = Object.keys(spec.env ?? {}).some((name) => name.startsWith('PYTHON'))
  return asksPython ? ['-s'] : ['-I']
}
