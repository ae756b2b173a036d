/** What each rule names in JavaScript and TypeScript. */
import type { RuleName } from './rules.ts'

type Table = ReadonlyMap<string, RuleName>

function each(rule: RuleName, names: string): [string, RuleName][] {
  return names.split(' ').map((name) => [name, rule])
}

function all(...rows: readonly [string, RuleName][][]): Table {
  return new Map(rows.flat())
}

/** Modules whose import is reported, as is the import of one of their files. Without `node:`. */
export const modules = all(
  each('process', 'child_process cluster execa cross-spawn'),
  each('dynamic-code', 'vm vm2 repl'),
  each('dynamic-import', 'module'),
  each('native-code', 'bun:ffi ffi ffi-napi koffi bindings'),
  each('network', 'net tls dgram dns http http2 https undici ws axios got node-fetch superagent'),
  each('internals', 'inspector v8 trace_events bun:jsc'),
)

/** Global names. */
export const names = all(
  each('dynamic-code', 'eval Function'),
  each('network', 'fetch WebSocket EventSource XMLHttpRequest'),
)

/** Dotted names, without a leading global object. */
export const members = all(
  each('native-code', 'process.binding process.dlopen'),
  each('process', 'process.kill Bun.spawn Bun.spawnSync Bun.$ Deno.Command Deno.run'),
  each('network', 'Bun.connect Bun.listen Bun.serve Bun.udpSocket Deno.connect Deno.listen Deno.serve'),
  each('internals', 'require.cache require.main require.extensions'),
  each('prototype-change', 'Object.setPrototypeOf Reflect.setPrototypeOf'),
)

/** Properties of any object. */
export const properties = all(
  each('native-code', '_linkedBinding dlopen'),
  each('dynamic-import', 'getBuiltinModule createRequire'),
  each('internals', 'mainModule prepareStackTrace'),
  each('prototype-change', '__proto__ __defineGetter__ __defineSetter__'),
)

const fileCalls =
  'access appendFile chmod copyFile cp createReadStream createWriteStream link lstat mkdir open opendir readFile ' +
  'readdir readlink realpath rename rm rmdir stat symlink truncate unlink watch writeFile'

/** Functions of `fs` that take a path first. */
export const fileFunctions: ReadonlySet<string> = new Set(
  fileCalls.split(' ').flatMap((name) => [name, `${name}Sync`]),
)

/** Timers, which run a string as code. */
export const timers: ReadonlySet<string> = new Set(
  ['Timeout', 'Interval', 'Immediate'].map((name) => `set${name}`),
)

export const globalObjects: ReadonlySet<string> = new Set(['globalThis', 'global', 'window', 'self'])

/** Objects that the whole program shares. */
export const sharedObjects =
  /^(?:Object|Array|Function|String|Number|Promise|RegExp|Map|Set|Error|Symbol)\.prototype\b/
