/**
 * In Node, each worker thread has its own module loader. So each worker is started with a flag that loads the hooks of
 * `workspace-modules.ts`. The worker removes this flag from its `process.execArgv`.
 */
import type { Worker, WorkerOptions } from 'node:worker_threads'
import { harnessPath, preloadFlag } from '../harness-path.ts'

type WorkerArguments = [file: string | URL, options?: WorkerOptions]

const getBuiltinModule = process.getBuiltinModule.bind(process)
const { construct } = Reflect
/** The bundle of the hooks. It is in the folder of the harness's bundle. */
const hooks = '/workspace-modules.js'
/** In a worker, `harnessPath` is this bundle already. */
const preload = harnessPath.endsWith(hooks)
  ? harnessPath
  : `${harnessPath.slice(0, harnessPath.lastIndexOf('/'))}${hooks}`

let isInstalled = false

/** Called when the program first imports `node:worker_threads`, which is too slow to load for every program. */
export function installWorkerHooks(): void {
  if (isInstalled) return
  isInstalled = true
  const threads = getBuiltinModule('node:worker_threads') as { Worker: typeof Worker }
  threads.Worker = new Proxy(threads.Worker, {
    construct: (target, [file, options]: WorkerArguments, made: new () => object) =>
      construct(target, [file, withHooks(options)], made) as object,
  })
  getBuiltinModule('node:module').syncBuiltinESMExports()
}

const withHooks = (options: WorkerOptions = {}): WorkerOptions => ({
  ...options,
  execArgv: [preloadFlag, preload, ...(options.execArgv ?? [])],
})
