/**
 * Loaded first by every process that Node's runner starts. What a process of tests needs is loaded on demand, because worker
 * threads and forks of the tests inherit the option that loads this.
 */
import { isMainThread } from 'node:worker_threads'
import { OwnNote } from './process-notes.ts'

const [, file = ''] = process.argv

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const isFile = file.endsWith('.test.ts')
  if (isFile || file.endsWith('.group.mjs')) {
    const note = OwnNote.open(file)
    if (note !== undefined) (await import('./own-evidence.ts')).watchOwnTests(note, file)
  }
  if (isFile) await import('./say-processor-time.ts')
}
