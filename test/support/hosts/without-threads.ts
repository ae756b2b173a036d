/**
 * A process that for a while cannot start a thread, because there is no address space for its stack. It runs snippets
 * then, and again when there is space, and prints each result. The argument says whether a thread exists already.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import { runSnippet, warmUpSnippets } from '../../../src/adapters/snippet-tool/index.ts'
import type { SnippetRequest } from '../../../src/adapters/snippet-tool/index.ts'

/** Less than the stack of a snippet thread, but enough for everything else here. */
const roomBytes = 12 * 1024 * 1024
const ends: string[] = []

if (process.argv[2] === 'warm') await warmUpSnippets()
const used = Number(/^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
limitAddresses(`${used + roomBytes}`)
await note({ source: 'for (;;);', limits: { wall_ms: 100 } })
await note({ source: 'emit(1)' })
limitAddresses('unlimited')
for (let round = 0; round < 3; round++) await note({ source: 'emit(2)' })
console.log(JSON.stringify(ends))

/** Sets only the soft limit, which any user may raise again. */
function limitAddresses(bytes: string): void {
  execFileSync('prlimit', ['--pid', `${process.pid}`, `--as=${bytes}:`])
}

async function note(request: SnippetRequest): Promise<void> {
  try {
    const { output, error } = await runSnippet(request)
    ends.push(error?.code ?? output ?? '')
  } catch (error) {
    ends.push(error instanceof LazaretError ? error.code : String(error))
  }
}
