/** The runtimes, the languages of each, and which runtime a request gets. */
import { LazaretError } from '../core/errors.ts'
import type { CellRuntimeName, Language, Realm, RunRequest, RuntimeName } from '../core/request.ts'
import { bunRuntime } from './bun/host.ts'
import { nodeRuntime } from './node/host.ts'
import { pythonRuntime } from './python/host.ts'
import type { Runtime } from './runtime.ts'
import { shellRuntime } from './shell/host.ts'
import type { Toolchains } from './toolchains.ts'

/** What says which runtime a run needs. */
export interface CellRequest {
  readonly language: Language
  readonly runtime?: CellRuntimeName
  readonly realm?: Realm
}

export function needsCell<Request extends Pick<RunRequest, 'runtime'>>(
  request: Request,
): request is Request & { readonly runtime?: CellRuntimeName } {
  return request.runtime !== 'snippet'
}

const runtimes: Readonly<Record<CellRuntimeName, Runtime>> = {
  bun: bunRuntime,
  node: nodeRuntime,
  python: pythonRuntime,
  shell: shellRuntime,
}

/** In order of preference; the first whose toolchain is here is taken. */
const defaults: Readonly<Record<Language, readonly [CellRuntimeName, ...CellRuntimeName[]]>> = {
  javascript: ['bun', 'node'],
  typescript: ['bun', 'node'],
  python: ['python'],
  shell: ['shell'],
}

/** The runtime that a request names, or its language's own. Throws INVALID_REQUEST when the two do not fit. */
export function chooseRuntime(
  { language, runtime: asked, realm }: CellRequest,
  toolchains: Toolchains,
): Runtime {
  // Bun alone has one.
  const name = realm === 'bare' ? 'bun' : asked
  const [preferred, ...others] = defaults[language]
  const available = [preferred, ...others].find((candidate) => toolchains[candidate]() !== null)
  // With none of them here the preferred one says what to install.
  const runtime = runtimes[name ?? available ?? preferred]
  if (runtime.languages.includes(language)) return runtime
  throw misfit(runtime.name, language, runtime.languages)
}

export function misfit(name: RuntimeName, language: Language, languages: readonly Language[]): LazaretError {
  return new LazaretError('INVALID_REQUEST', {
    detail: `The runtime ${name} does not run ${language}; it runs ${languages.join(' and ')}.`,
  })
}
