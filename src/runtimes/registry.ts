import { LazaretError } from '../core/errors.ts'
import type { Language, RunRequest, RuntimeName } from '../core/request.ts'
import { bunRuntime } from './bun/host.ts'
import { nodeRuntime } from './node/host.ts'
import { pythonRuntime } from './python/host.ts'
import type { Runtime } from './runtime.ts'
import { shellRuntime } from './shell/host.ts'
import type { Toolchains } from './toolchains.ts'

const runtimes: Readonly<Record<RuntimeName, Runtime>> = {
  bun: bunRuntime,
  node: nodeRuntime,
  python: pythonRuntime,
  shell: shellRuntime,
}

/** In order of preference; the first whose toolchain is here is taken. */
const defaults: Readonly<Record<Language, readonly [RuntimeName, ...RuntimeName[]]>> = {
  javascript: ['bun', 'node'],
  typescript: ['bun', 'node'],
  python: ['python'],
  shell: ['shell'],
}

/** The runtime that a request names, or its language's own. Throws INVALID_REQUEST when the two do not fit. */
export function chooseRuntime({ language, runtime: name }: RunRequest, toolchains: Toolchains): Runtime {
  const [preferred, ...others] = defaults[language]
  const available = [preferred, ...others].find((candidate) => toolchains[candidate]() !== null)
  // With none of them here the preferred one says what to install.
  const runtime = runtimes[name ?? available ?? preferred]
  if (runtime.languages.includes(language)) return runtime
  throw new LazaretError('INVALID_REQUEST', {
    detail: `The runtime ${runtime.name} does not run ${language}; it runs ${runtime.languages.join(' and ')}.`,
  })
}
