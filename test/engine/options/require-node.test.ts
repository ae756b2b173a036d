/** npm installs the package on any Node, and Bun and Deno load it, so each door itself checks what it needs. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { afterEach, describe, test } from 'node:test'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { runSnippet, warmUpSnippets } from '../../../src/adapters/snippet-tool/index.ts'
import { createLazaret } from '../../../src/index.ts'
import { Toolchains } from '../../../src/runtimes/packages/toolchains.ts'
import { checkoutRoot, readText } from '../../support/sources/checkout.ts'

const { versions } = process
const { engines } = JSON.parse(readText('package.json')) as { readonly engines: { readonly node: string } }
const oldest = engines.node.replace('>=', '')
/** Dots match themselves or another character; that is exact enough. */
const named = (end: string) => new RegExp(`needs Node ${oldest} or newer${end}`)

const doors: Readonly<Record<string, () => unknown>> = {
  createLazaret,
  runSnippet: () => runSnippet({ source: 'emit(1)' }),
  warmUpSnippets,
  'an actor': () => new SubprocessCodeExecutionActor(new MessageRouter()),
}

const hosts: readonly (readonly [what: string, versions: object, message: RegExp])[] = [
  ['a Node that is too old', { node: '20.20.2' }, named(', and this is 20.20.2.')],
  ['Bun', { bun: '1.4.5' }, named(' as its host, and this is Bun 1.4.5.')],
  ['Deno', { deno: '2.9.6' }, named(' as its host, and this is Deno 2.9.6.')],
]

describe('on another host', () => {
  afterEach(() => Object.defineProperty(process, 'versions', { value: versions }))
  for (const [what, own, message] of hosts)
    for (const [name, open] of Object.entries(doors))
      test(`${name} names the Node that it needs to ${what}`, async () => {
        Object.defineProperty(process, 'versions', { value: { ...versions, ...own } })
        await assert.rejects(async () => open(), { code: 'RUNTIME_UNAVAILABLE', message })
      })
})

test('the command and the README name the same Node', () => {
  assert.ok(readText('src/adapters/cli/main.ts').includes(`needs Node ${oldest} or newer`))
  assert.ok(readText('README.md').includes(`Node ${oldest} or later`))
})

const bun = new Toolchains().bun()
test('the packaged Bun is refused as a host', { skip: bun === null && 'there is no Bun here' }, () => {
  const program = `
import { createLazaret } from './src/index.ts'
try { createLazaret() } catch (error) { console.log(error.code, error.message) }`
  const { stdout, status } = spawnSync(bun ?? '', ['-e', program], { cwd: checkoutRoot, encoding: 'utf8' })
  assert.match(stdout, /^RUNTIME_UNAVAILABLE .* and this is Bun \d/)
  assert.equal(status, 0)
})
