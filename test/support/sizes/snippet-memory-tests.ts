/** The same test in several sizes: many concurrent snippets that use all the memory they may have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { runSnippet } from '../../../src/adapters/snippet-tool/index.ts'
import { heldBytes } from '../machine/resident-memory.ts'

/** The memory of two snippets of at most 32 MiB, for what is freed late. It does not grow with their number. */
const growthBytesMax = 64 * 1024 * 1024
const limits = { wall_ms: 60_000 }

export function testMemoryOfMany(count: number): void {
  test(`${count} programs that take all memory leave nothing in the host`, async () => {
    // Large pieces fill the memory quickly, so most of the time goes to starting and ending threads.
    const kinds = ['new Uint8Array(1e6)', 'Array(1e5).fill(n)', '2n ** 1000000n']
    const round = async (length: number) => {
      const sources = Array.from({ length }, (_, index) => kinds[index % kinds.length] ?? '')
      await Promise.all(
        sources.map((code) =>
          runSnippet({ source: `const hold = []; for (let n = 0; ; n++) hold.push(${code})`, limits }),
        ),
      )
    }
    await round(20)
    const before = heldBytes()
    await round(count)
    const growth = heldBytes() - before
    assert.ok(growth < growthBytesMax, `grew by ${Math.round(growth / 1024 / 1024)} MiB`)
  })
}
