/** What a user can import, according to the package's `exports`, and which of it starts no work. */
import { join } from 'node:path'

import { checkoutRoot, readText } from './checkout.ts'

/** The names of all values that the package exports, sorted. */
export async function listExports(): Promise<string[]> {
  const { exports } = JSON.parse(readText('package.json')) as { exports: Record<string, unknown> }
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && entry !== null ? [Reflect.get(entry, 'default') as string] : [],
  )
  const modules = await Promise.all(
    entries.map(
      (path) => import(join(checkoutRoot, path.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))),
    ),
  )
  return [...new Set(modules.flatMap((module) => Object.keys(module as object)))].toSorted()
}

/** Each with the reason. */
export const exportsWithoutWork: Readonly<Record<string, string>> = {
  createLazaret: 'its methods are the doors',
  connectLazaret: 'asks another process, whose policy it passes',
  LazaretError: 'an error',
  Unserializable: 'a value',
  MessageRouter: 'hands messages to actors',
  endSnippetThreads: 'ends work',
  CircuitBreaker: 'refuses work, and begins none',
  ExecutionMonitor: 'hears of ends',
  ExecutionPool: 'queues what its caller does',
  RateLimiter: 'refuses work, and begins none',
  retry: 'repeats what its caller does',
  toMetadata: 'describes a result',
  LazaretMetrics: 'hears of ends',
  traceWork: 'hears of ends',
  canonicalJson: 'writes a text',
  createReceiptKeys: 'makes keys',
  verifyAudit: 'looks',
  verifyReceipt: 'looks',
  getAllowedModuleNames: 'tells of what is allowed',
  getLibrarySource: 'tells of what is allowed',
  isModuleAllowed: 'tells of what is allowed',
}
