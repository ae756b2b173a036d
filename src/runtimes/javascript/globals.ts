/** What the guest's program finds besides the language and the runtime. */
import { createRequire } from 'node:module'
import type { GuestRequest } from '../channel-protocol.ts'
import { programName } from './positions.ts'

/** Defines `require`, `module` and their like, `input` and `process.argv`. The program may declare these names itself. */
export function installGlobals(request: GuestRequest, input: unknown): void {
  const folder = process.cwd()
  const filename = `${folder}/${programName}`
  const require = createRequire(filename)
  const module = { id: '.', filename, exports: {}, loaded: false, children: [], paths: [], require }
  // So that `require.main === module` says that this is the program.
  Object.defineProperty(require, 'main', {
    value: module,
    writable: true,
    enumerable: true,
    configurable: true,
  })
  define('require', require)
  define('module', module)
  define('exports', module.exports)
  define('__filename', filename)
  define('__dirname', folder)
  define('input', input)
  process.argv = [process.execPath, programName, ...request.args]
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true })
}
