/** Shell: bash (or sh) on a script file. No harness: the exit code and the output are all there is. */
import { encodeValue } from '../../core/values.ts'
import { LazaretError } from '../../core/errors.ts'
import { guestEnvironment, workspaceFiles } from '../runtime.ts'
import type { Program, Runtime } from '../runtime.ts'

const scriptPath = '/tmp/code.sh'
const inputPath = '/tmp/input.json'

export const shellRuntime: Runtime = {
  name: 'shell',
  languages: ['shell'],
  prepare(request, limits, toolchains): Program {
    const shell = toolchains.shell()
    if (shell === null) throw new LazaretError('RUNTIME_UNAVAILABLE', { detail: 'There is no bash and no sh.', hint: 'Install bash.' })
    const input = request.input === undefined ? [] : [{ path: inputPath, bytes: encodeInput(request.input, limits.inputBytes) }]
    return {
      file: shell,
      argv: [shell, scriptPath, ...(request.args ?? [])],
      env: { ...(input.length > 0 ? { INPUT: inputPath } : {}), ...guestEnvironment(request) },
      binds: [],
      files: [{ path: scriptPath, bytes: Buffer.from(request.code) }, ...input, ...workspaceFiles(request)],
      baseDataBytes: 3 * 1024 * 1024,
    }
  },
}

/** A text goes into the file as it is; everything else as JSON, tagged where JSON has no word for it. */
function encodeInput(input: unknown, maxBytes: number): Uint8Array {
  if (input instanceof Uint8Array) return input
  return Buffer.from(typeof input === 'string' ? input : JSON.stringify(encodeValue(input, { maxBytes }).value))
}
