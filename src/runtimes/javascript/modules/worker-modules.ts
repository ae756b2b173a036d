/**
 * Workers of Node have their own loaders. Each is started with the hooks of `workspace-modules.ts`, by a flag that it
 * removes from its `process.execArgv` again.
 */
import type { Worker, WorkerOptions } from 'node:worker_threads'
import { harnessPath, preloadFlag } from '../harness-path.ts'

type WorkerArguments = [file: string | URL, options?: WorkerOptions]

const getBuiltinModule = process.getBuiltinModule.bind(process)
const { construct } = Reflect
/** Beside the harness in a build, where it is bundled too. */
const hooks = '/workspace-modules.js'
/** A worker was given it by its parent, and gives it to workers of its own. */
const preload = harnessPath.endsWith(hooks)
  ? harnessPath
  : `${harnessPath.slice(0, harnessPath.lastIndexOf('/'))}${hooks}`

let isInstalled = false

/** Called when the program asks for `node:worker_threads`, which is too slow to load for programs that do not. */
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
