/** An interrupted download leaves no file that looks complete, and loses no file that existed before. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import type { Sandbox } from '../../../src/index.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const reason = await whyNoSandboxes()
const { lazaret } = await useLazaret()

const MiB = 1024 * 1024
const bytes = 40 * MiB
const names = ['a', 'b', 'c']
const before = 'what was there before'

const ends: Readonly<Record<string, (sandbox: Sandbox) => unknown>> = {
  'the sandbox ends': (sandbox) => sandbox[Symbol.asyncDispose](),
  'a guest kills everything that it can': (sandbox) => sandbox.exec('kill -9 -1'),
}

async function openFull(): Promise<Sandbox> {
  const sandbox = await lazaret.sandbox({ limits: { diskBytes: 200 * MiB, memoryBytes: 1024 * MiB } })
  const fill = `for name in ${names.join(' ')}; do head -c ${bytes} /dev/zero | tr '\\0' x > $name; done`
  assert.equal((await sandbox.exec(fill)).exitCode, 0)
  return sandbox
}

for (const [name, end] of Object.entries(ends))
  test(
    `${name} during the download of a folder: files are complete or unchanged`,
    { skip: reason },
    async () => {
      await using sandbox = await openFull()
      const to = mkdtempSync(join(tmpdir(), 'lazaret-cut-'))
      try {
        for (const file of names) writeFileSync(join(to, file), before)
        let ended: Promise<unknown> | undefined
        const onProgress = () => {
          ended ??= Promise.resolve(end(sandbox)).catch(() => undefined)
        }
        await assert.rejects(sandbox.downloadFolder(to, { onProgress }), { name: 'LazaretError' })
        await ended
        assert.deepEqual(readdirSync(to).toSorted(), names)
        const wrong = names.filter((file) => {
          const text = readFileSync(join(to, file), 'latin1')
          return text !== before && (text.length !== bytes || text.includes('\0'))
        })
        assert.deepEqual(wrong, [])
      } finally {
        rmSync(to, { recursive: true })
      }
    },
  )

test('a tar stream fails if its sandbox ends', { skip: reason }, async () => {
  await using sandbox = await openFull()
  let ended: Promise<void> | undefined
  await assert.rejects(
    async () => {
      for await (const piece of sandbox.downloadTar()) {
        if (piece.length > 0) ended ??= sandbox[Symbol.asyncDispose]()
      }
    },
    { name: 'LazaretError' },
  )
  await ended
})
