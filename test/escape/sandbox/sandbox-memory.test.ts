/** Remains of a credential in the memory of the sandbox's own processes, whose forks serve other commands. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { test } from 'node:test'

import { listDescendants } from '../../support/machine/processes.ts'
import { useSandbox } from '../../sandbox/use-sandbox.ts'

const { sandbox, hasSecure } = await useSandbox()
const isRoot = process.getuid?.() === 0
const skip = !(hasSecure && isRoot) && 'only root can look, and only where there are secure spaces'

/** Undefined for a process that has ended. */
function holds(pid: number, secret: string): boolean | undefined {
  try {
    const memory = openSync(`/proc/${pid}/mem`, 'r')
    try {
      const maps = readFileSync(`/proc/${pid}/maps`, 'utf8')
      const ranges = [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)]
      return ranges.some(([, first = '0', last = '0']) => {
        const from = Number.parseInt(first, 16)
        const bytes = Buffer.alloc(Number.parseInt(last, 16) - from)
        return bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, from)).includes(secret)
      })
    } finally {
      closeSync(memory)
    }
  } catch {
    return undefined
  }
}

test('once its command runs, no process of Lazaret in the sandbox holds a credential', { skip }, async () => {
  const secret = randomUUID()
  const { promise, resolve } = Promise.withResolvers<void>()
  // The program itself does not get it, so no process of the sandbox should have it any more.
  const script = 'exec env -i sh -c "echo begun; exec sleep 60"'
  const abort = new AbortController()
  const { signal } = abort
  const onOutput = ({ text }: { readonly text: string }) => void (text.includes('begun') && resolve())
  const run = sandbox.exec(script, { env: { TOKEN: secret }, signal, onOutput })
  await promise
  const found = listDescendants(process.pid).map(({ pid, name }) => [name, holds(pid, secret)])
  abort.abort()
  await run
  assert.ok(found.some(([name, isHeld]) => name === 'cell' && isHeld === false))
  assert.deepEqual(
    found.filter(([, isHeld]) => isHeld === true),
    [],
  )
})
