import { LazaretError } from '../core/errors.ts'
import type { Language, RunRequest, RuntimeName } from '../core/request.ts'
import { bunRuntime } from './bun/host.ts'
import { nodeRuntime } from './node/host.ts'
import { pythonRuntime } from './python/host.ts'
import type { Runtime } from './runtime.ts'
import { shellRuntime } from './shell/host.ts'

const runtimes: Readonly<Record<RuntimeName, Runtime>> = {
  bun: bunRuntime,
  node: nodeRuntime,
  python: pythonRuntime,
  shell: shellRuntime,
}

const defaults: Readonly<Record<Language, RuntimeName>> = {
  javascript: 'bun',
  typescript: 'bun',
  python: 'python',
  shell: 'shell',
}

/** The runtime that a request names, or its language's own. Throws INVALID_REQUEST when the two do not fit. */
export function chooseRuntime({ language, runtime: name }: RunRequest): Runtime {
  const runtime = runtimes[name ?? defaults[language]]
  if (runtime.languages.includes(language)) return runtime
  throw new LazaretError('INVALID_REQUEST', {
    detail: `The runtime ${runtime.name} does not run ${language}; it runs ${runtime.languages.join(' and ')}.`,
  })
}
