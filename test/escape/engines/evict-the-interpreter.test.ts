/**
 * A guest at its memory limit makes the kernel reclaim cached pages that are charged to the guest's cgroup. If these are
 * the interpreter's, the guest is slow instead of out of memory, and every other guest waits for the disk.
 */
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { Toolchains } from '../../../src/runtimes/packages/toolchains.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { cachedShare, dropFromCache } from '../../support/machine/page-cache.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'

const packaged = new Toolchains().bun()
const skip = packaged === null && 'no Bun here'

/** Of its pages, some of which no guest has ever read. Otherwise hardly one stays. */
const keptMin = 0.5

const bomb = {
  code: `const kept = []; let s = 'x'.repeat(1 << 20); for (;;) { s += s; s.charCodeAt(7); kept.push(s, JSON.stringify(s)) }`,
  language: 'javascript',
  runtime: 'bun',
  limits: { memoryBytes: 128 * 1024 * 1024, wallMs: 60_000 },
} as const

test(
  'an interpreter that nobody has used before stays cached when its guest runs out of memory',
  { skip },
  async () => {
    // /tmp may be a tmpfs, but not every user can write elsewhere.
    const folder = mkdtempSync(
      process.getuid?.() === 0 ? `${checkoutRoot}/node_modules/.evict-` : join(tmpdir(), 'evict-'),
    )
    const bun = join(folder, 'bun')
    try {
      copyFileSync(packaged ?? '', bun)
      chmodSync(folder, 0o755)
      dropFromCache(bun)
      await using lazaret = createLazaret({ toolchains: { bun }, pools: { bun: { forks: false } } })
      const { outcome } = await lazaret.run(bomb)
      assert.equal(outcome.kind, 'out-of-memory')
      const share = cachedShare(bun)
      assert.ok(share >= keptMin, `${share} of it is cached`)
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
