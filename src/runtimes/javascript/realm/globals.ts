/** The globals that the harness adds for the guest's program. */
import type { GuestRequest } from '../../channel/channel-protocol.ts'
import { define } from '../modules/define.ts'
import { programName, programPath } from '../modules/positions.ts'

const getBuiltinModule = process.getBuiltinModule.bind(process)
const { defineProperty } = Object

/**
 * Defines `require`, `module` and similar names, `input` and `process.argv`. The program may declare these names
 * itself.
 */
export function installGlobals(request: GuestRequest, input: unknown): void {
  const folder = process.cwd()
  const filename = programPath
  const module = { id: '.', filename, exports: {}, loaded: false, children: [], paths: [] }
  // Most programs never require anything, and the loader costs start time.
  const getRequire = once(() => {
    const require = getBuiltinModule('node:module').createRequire(filename)
    // Makes `require.main === module` true in the program.
    define(require, 'main', module)
    return require
  })
  defineLazy(globalThis, 'require', getRequire)
  defineLazy(module, 'require', getRequire)
  define(globalThis, 'module', module)
  define(globalThis, 'exports', module.exports)
  define(globalThis, '__filename', filename)
  define(globalThis, '__dirname', folder)
  define(globalThis, 'input', input)
  process.argv = [process.execPath, programName, ...request.args]
  for (const name of hostSettings) delete process.env[name]
}

/** The host's settings for Bun, which has read them at its start. The guest does not see them. */
const hostSettings = [
  'BUN_RUNTIME_TRANSPILER_CACHE_PATH',
  'BUN_JSC_jitMemoryReservationSize',
  'MIMALLOC_ARENA_RESERVE',
]

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined
  return () => (made ??= { result: make() }).result
}

function defineLazy(owner: object, name: string, get: () => unknown): void {
  const set = (value: unknown): void => define(owner, name, value)
  defineProperty(owner, name, { get, set, enumerable: false, configurable: true })
}
