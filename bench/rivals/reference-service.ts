/**
 * The published code-execution service whose interface ours follows: `@memberjunction/code-execution`. It is
 * installed only for the benchmark, into a separate folder that is kept for the next time; Lazaret does not depend on it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const name = '@memberjunction/code-execution'
const version = '5.51.3'
const folder = join(import.meta.dirname, '../../node_modules/.cache/lazaret-bench')

export interface ReferenceService {
  initialize(): Promise<void>
  execute(params: object): Promise<{ readonly success: boolean; readonly output?: unknown }>
  shutdown(): Promise<void>
}

interface Reference {
  readonly CodeExecutionService: new (options: { readonly poolSize: number }) => ReferenceService
}

/** Returns the reason if it is not available. Its log messages are discarded. */
export async function openReference(poolSize: number): Promise<ReferenceService | string> {
  const entry = join(folder, 'node_modules', name, 'dist/index.js')
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const wanted = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`]
    const { status } = spawnSync('npm', wanted, { cwd: folder, stdio: 'ignore', timeout: 180_000 })
    if (status !== 0 || !existsSync(entry)) return `npm could not install ${name}@${version}.`
  }
  createRequire(join(folder, 'package.json')).resolve(name)
  const { CodeExecutionService } = (await import(pathToFileURL(entry).href)) as Reference
  const service = new CodeExecutionService({ poolSize })
  await silently(() => service.initialize())
  return {
    initialize: () => service.initialize(),
    execute: (params) => service.execute(params),
    shutdown: () => silently(() => service.shutdown()),
  }
}

async function silently(act: () => Promise<void>): Promise<void> {
  const { log, error } = console
  console.log = console.error = () => undefined
  try {
    await act()
  } finally {
    Object.assign(console, { log, error })
  }
}
