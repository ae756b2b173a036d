/** Python: CPython in isolated mode, on the harness in guest.py. */
import { dirname } from 'node:path'

import { LazaretError } from '../../core/errors.ts'
import type { RunSpec } from '../../core/request.ts'
import { writeGuestRequest } from '../guest-request.ts'
import { pathIn } from '../../jail/place.ts'
import { guestBind } from '../package-files.ts'
import { guestEnvironment, workspaceFiles } from '../runtime.ts'
import type { Program, Runtime } from '../runtime.ts'

/** An interpreter appears at its own path inside, and there these are the guest's. */
const guestOwnFolders = ['/tmp/', '/workspace/', '/dev/', '/proc/', '/run/']

export const pythonRuntime: Runtime = {
  name: 'python',
  languages: ['python'],
  parks: 'program',
  toolchain: {
    find: (toolchains) => toolchains.python()?.path ?? null,
    version: (toolchains) => toolchains.python()?.version,
    fix: () => 'Install python3 (3.9 or later).',
    isShown: false,
  },
  prepare(spec, limits, { toolchains, place }): Program {
    const isOwnView = place.work === null
    const python = toolchains.python({ forEverybody: !isOwnView && process.geteuid?.() === 0 })
    if (python === null) {
      throw toolchains.refuse('python', {
        detail: 'No Python 3 was found.',
        hint: 'Install python3 (3.9 or later), or name one in `toolchains.python`.',
      })
    }
    const hidden = !isOwnView
      ? undefined
      : python.folders.find((folder) => guestOwnFolders.some((own) => `${folder}/`.startsWith(own)))
    if (hidden !== undefined) {
      throw new LazaretError('RUNTIME_UNAVAILABLE', {
        detail: `This Python lies in ${hidden}, which every guest has for itself.`,
        hint: 'Install it elsewhere, or name another one in `toolchains.python`.',
      })
    }
    const build = guestBind()
    return {
      file: python.path,
      argv: [
        python.path,
        ...isolation(spec),
        '-X',
        'utf8',
        `${pathIn(place, build)}/runtimes/python/guest.py`,
      ],
      env: guestEnvironment(spec, place, [dirname(python.path)]),
      binds: [build, ...python.folders.map((folder) => ({ host: folder, guest: folder }))],
      files: workspaceFiles(spec, place),
      guestRequest: writeGuestRequest('python', spec, limits),
      baseDataBytes: 16 * 1024 * 1024,
    }
  },
}

/**
 * Isolated, the interpreter starts on nothing but itself. A request that sets variables of Python's own (PYTHONPATH for
 * folders that `readable` shows, PYTHONHASHSEED, …) means them to count.
 */
function isolation(spec: RunSpec): readonly string[] {
  const asksPython = Object.keys(spec.env ?? {}).some((name) => name.startsWith('PYTHON'))
  return asksPython ? ['-s'] : ['-I']
}
