/** Shell: bash (or sh) with a script file. There is no harness, so a run has only an exit code and output. */
import { types } from 'node:util'

import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { RunSpec } from '../../core/request.ts'
import { packageCommands, packageVariables } from '../packages/guest-packages.ts'
import { encodeInput, requireInputFits } from '../work/guest-request.ts'
import { onDisk } from '../../jail/limits/disk.ts'
import { showPython } from '../python/host.ts'
import { guestEnvironment, workspaceFiles } from '../runtime.ts'
import type { Program, ProgramFile, Runtime } from '../runtime.ts'

export const shellRuntime: Runtime = {
  name: 'shell',
  languages: ['shell'],
  parks: 'cell',
  toolchain: {
    find: (toolchains) => toolchains.shell(),
    fix: () => 'Install bash.',
    isShown: false,
  },
  // Its cells differ only in what each space has for itself, and building a space takes less time than building a cell.
  zygote: {
    needsCgroup: true,
    plan: ({ toolchains, packages, readable }) => {
      const python = (packages.python ?? []).length === 0 ? null : toolchains.pythonOf({ isOwnView: true })
      return { argv: [], env: {}, binds: [...showPython(python).binds, ...readable] }
    },
  },
  prepare(spec, limits, { toolchains, packages, place }): Program {
    const shell = toolchains.shell()
    if (shell === null)
      throw new LazaretError('RUNTIME_UNAVAILABLE', {
        detail: 'There is no bash and no sh.',
        hint: 'Install bash.',
      })
    // The first line of a package's command names the interpreter for which it was installed.
    const python =
      (packages.python ?? []).length === 0 ? null : toolchains.pythonOf({ isOwnView: place.work === null })
    const shown = showPython(python)
    const folders = [
      ...(shown.folder === undefined ? [] : [shown.folder]),
      ...packageCommands(packages, place),
    ]
    const scriptPath = `${place.temporary}/code.sh`
    const inputPath = `${place.temporary}/input.json`
    const code = { path: scriptPath, bytes: Buffer.from(spec.code) }
    const input = spec.input === undefined ? [] : [{ path: inputPath, bytes: writeInput(spec, limits) }]
    requireTemporaryFits([code, ...input], limits)
    return {
      file: shell,
      argv: [shell, scriptPath, ...(spec.args ?? [])],
      env: {
        ...(input.length > 0 ? { INPUT: inputPath } : {}),
        ...packageVariables(packages, place),
        ...guestEnvironment(spec, place, folders),
      },
      binds: shown.binds,
      files: [code, ...input, ...workspaceFiles(spec, place)],
      baseDataBytes: 3 * 1024 * 1024,
    }
  },
}

/** Strings and bytes are written unchanged. Other values are written as JSON, with tags for what JSON lacks. */
function writeInput(spec: RunSpec, limits: Limits): Uint8Array {
  const { input } = spec
  // Not `instanceof`, which would run code of a proxy.
  if (typeof input !== 'string' && !types.isUint8Array(input))
    return Buffer.from(JSON.stringify(encodeInput(spec, limits)))
  const bytes = Buffer.from(input as string)
  requireInputFits(bytes, spec, limits)
  return bytes
}

/** Both files are in /tmp, whose size is the disk limit. */
function requireTemporaryFits(files: readonly ProgramFile[], { diskBytes }: Limits): void {
  const used = files.reduce((sum, { bytes }) => sum + onDisk(bytes.length), 0)
  if (used <= diskBytes) return
  throw new LazaretError('INPUT_TOO_LARGE', {
    detail: `code and input: ${used} bytes on disk; diskBytes is ${diskBytes}.`,
  })
}
