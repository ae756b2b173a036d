/**
 * Loaded first by every process that Node's runner starts. What a process of tests needs is loaded on demand, because worker
 * threads and forks of the tests inherit the option that loads this.
 */
import { isMainThread } from 'node:worker_threads'
import { noteExit } from './hung-exits.ts'

const [, file = ''] = process.argv
/** From this version on the runner limits single tests, and no longer processes. */
const limitsTestsSince = 24

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  noteExit()
  const isFile = file.endsWith('.test.ts')
  if (isFile) await import('./say-processor-time.ts')
  const canBeStuck = Number.parseInt(process.versions.node) >= limitsTestsSince
  if (canBeStuck && (isFile || file.endsWith('.group.mjs'))) await import('./stuck-process.ts')
}
