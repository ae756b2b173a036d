/** Modules that are often preloaded are used once before any run arrives: in the zygote, and in each of its forks. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { levelHere } from '../../support/machine/level-here.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { noPools } from '../../support/use-lazaret.ts'

const root = mkdtempSync(join(tmpdir(), 'lazaret-first-uses-'))
chmodSync(root, 0o755)
after(() => rmSync(root, { recursive: true, force: true }))
/** A stand-in for pandas that records the processes in which it was used. */
writeFileSync(
  join(root, 'pandas.py'),
  `
import os
used_by = []
class Series:
    def __init__(self, values): self.values = values
    def sum(self):
        used_by.append(os.getpid())
        return sum(self.values)
    def describe(self): return self.sum()
class DataFrame(Series):
    pass
`,
)
writeFileSync(join(root, 'numpy.py'), 'name = "of another kind"\n')

const skip = (await levelHere()) === 'restricted' && 'without namespaces no worker is a fork'
const warm = { language: 'python', preload: ['pandas', 'numpy'] } as const

test('a fork executes the first uses itself, too, for any module', { skip }, async () => {
  await using lazaret = createLazaret({
    packages: { python: [root] },
    access: { preload: true },
    pools: { ...noPools, python: { max: 1 } },
  })
  for (let turn = 0; turn < 2; turn++) {
    await lazaret.warmUp(warm)
    const code =
      'import os, pandas, numpy\n[len(set(pandas.used_by)), pandas.used_by[-1] == os.getpid(), numpy.name]'
    const { value, receipt, stderr } = await lazaret.run({ ...warm, code })
    assert.equal(receipt.start, 'forked', stderr)
    assert.deepEqual(value, [2, true, 'of another kind'])
  }
})
