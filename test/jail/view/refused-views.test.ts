/** Hosts on whose file systems the kernel really refuses overlays (without/view.c). Cells work there all the same. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'

import type { LazaretEvent, ProbeReport } from '../../../src/index.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { WithoutLayers } from '../../support/hosts/without-layer.ts'

const without = new WithoutLayers()
after(() => without[Symbol.dispose]())
const { level } = await useLazaret()
const skip = level === 'restricted' ? 'there are no mounts' : false

interface Report {
  readonly runs: readonly {
    readonly text: string
    readonly layers: readonly string[]
    readonly level: string
  }[]
  readonly sandbox: string
  readonly view: ProbeReport['layers'][number]
  readonly events: readonly LazaretEvent['type'][]
}

const program = `
  import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'dist/index.js'))}
  const events = []
  await using lazaret = createLazaret({ onEvent: ({ type }) => events.push(type) })
  const run = async (request) => {
    const { receipt, stdout } = await lazaret.run(request)
    return { text: stdout, layers: receipt.layers, level: receipt.protection }
  }
  const runs = [
    await run({ language: 'shell', code: 'ls /usr/bin/env' }),
    await run({ language: 'python', code: 'import json; print("imported")' }),
    await run({ language: 'shell', code: 'ls /usr/bin/env' }),
  ]
  await lazaret.warmUp({ language: 'python', count: 2 })
  runs.push(await run({ language: 'python', code: 'print("forked")' }))
  const sandbox = await lazaret.sandbox()
  const { stdout } = await sandbox.exec('ls /usr/bin/env')
  await sandbox.destroy()
  const { layers } = await lazaret.probe()
  const view = layers.find(({ name }) => name === 'own view')
  console.log(JSON.stringify({ runs, sandbox: stdout, view, events }))`

async function reportOf(overlays: number): Promise<Report> {
  const lacking = Array.from({ length: overlays }, () => 'overlaid=/usr' as const)
  const command = [process.execPath, '--input-type=module', '--eval', program]
  const { stdout, stderr } = await without.run(lacking, command)
  assert.equal(stderr, '')
  return JSON.parse(stdout) as Report
}

for (const [overlays, hasView] of [
  [1, true],
  [2, false],
] as const) {
  const what = hasView
    ? 'cells have views of their own'
    : 'the refusal is met once, and folders are shown as they are'
  test(
    `where /usr is ${overlays === 1 ? 'an overlay' : 'an overlay on an overlay'}, ${what}`,
    { skip },
    async () => {
      const { runs, sandbox, view, events } = await reportOf(overlays)
      const found = '/usr/bin/env\n'
      assert.deepEqual(
        runs.map(({ text }) => text),
        [found, 'imported\n', found, 'forked\n'],
      )
      assert.equal(sandbox, found)
      for (const run of runs) {
        assert.equal(run.layers.includes('own-view'), hasView, run.layers.join())
        assert.equal(run.level, level)
      }
      assert.equal(view.state, hasView ? 'ok' : 'weaker')
      assert.match(view.observed, hasView ? /own/ : /the kernel refuses one of \/usr/)
      assert.ok(!events.includes('protection-lowered'))
    },
  )
}
