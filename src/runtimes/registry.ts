/** The list of runtimes, and the choice of a runtime for a request. */
import { LazaretError } from '../core/errors/errors.ts'
import type { CellRuntimeName, Language, Realm, RunSpec, RuntimeName } from '../core/request.ts'
import { bunRuntime } from './bun/host.ts'
import { nodeRuntime } from './node/host.ts'
import { pythonRuntime } from './python/host.ts'
import type { Runtime } from './runtime.ts'
import { shellRuntime } from './shell/host.ts'
import type { Toolchains } from './packages/toolchains.ts'

/** The parts of a request that choose its runtime. */
export interface CellRequest {
  readonly language: Language
  readonly runtime?: CellRuntimeName
  readonly realm?: Realm
}

export function needsCell<Request extends Pick<RunSpec, 'runtime'>>(
  request: Request,
): request is Request & { readonly runtime?: CellRuntimeName } {
  return request.runtime !== 'snippet' && request.runtime !== 'isolate'
}

/** In order of preference: for a language, the first runtime whose toolchain is installed is used. */
export const cellRuntimes: readonly Runtime[] = [bunRuntime, nodeRuntime, pythonRuntime, shellRuntime]

/** The runtime that a request names, or else its language's. Throws INVALID_REQUEST if it does not run the language. */
export function chooseRuntime(
  { language, runtime: asked, realm }: CellRequest,
  toolchains: Toolchains,
): Runtime {
  // Only Bun supports bare realms.
  const name = realm === 'bare' ? 'bun' : asked
  const own = cellRuntimes.filter(({ languages }) => languages.includes(language))
  const available = own.find(({ toolchain }) => toolchain.find(toolchains) !== null)
  // If none is installed, the error of the preferred one says what to install.
  const usual = available ?? own[0]
  const runtime = name === undefined ? usual : cellRuntimes.find((one) => one.name === name)
  if (runtime === undefined) throw new Error(`No runtime is called ${name}, or runs ${language}.`)
  if (runtime.languages.includes(language)) return runtime
  throw misfit(runtime.name, language, runtime.languages)
}

export function misfit(name: RuntimeName, language: Language, languages: readonly Language[]): LazaretError {
  return new LazaretError('INVALID_REQUEST', {
    detail: `The runtime ${name} does not run ${language}; it runs ${languages.join(' and ')}.`,
  })
}
