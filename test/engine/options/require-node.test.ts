/** npm installs the package on any Node, so each door says itself which one it needs. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { runSnippet, warmUpSnippets } from '../../../src/adapters/snippet-tool/index.ts'
import { createLazaret } from '../../../src/index.ts'

const { versions } = process

before(() => Object.defineProperty(process, 'versions', { value: { ...versions, node: '20.20.2' } }))
after(() => Object.defineProperty(process, 'versions', { value: versions }))

const doors: Readonly<Record<string, () => unknown>> = {
  createLazaret,
  runSnippet: () => runSnippet({ source: 'emit(1)' }),
  warmUpSnippets,
  'an actor': () => new SubprocessCodeExecutionActor(new MessageRouter()),
}

for (const [name, open] of Object.entries(doors))
  test(`${name} names the required version if Node is too old`, async () => {
    await assert.rejects(async () => open(), {
      code: 'RUNTIME_UNAVAILABLE',
      message: /needs Node 22\.12 or newer, and this is 20\.20\.2/,
    })
  })
