import assert from 'node:assert/strict'
import { test } from 'node:test'

import { cellRuntimeNames, languages } from '../../src/core/request.ts'
import { chooseRuntime, type CellRequest } from '../../src/runtimes/registry.ts'
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'

const missing = '/no/such/toolchain'
const all = new Toolchains()
const chosen = (request: CellRequest, toolchains = all): string => chooseRuntime(request, toolchains).name

test('each language has a runtime that runs it', () => {
  for (const language of languages)
    assert.ok(chooseRuntime({ language }, all).languages.includes(language), language)
  assert.deepEqual([chosen({ language: 'python' }), chosen({ language: 'shell' })], ['python', 'shell'])
})

test('without Bun JavaScript runs on Node; with neither, the error says which one to install', () => {
  assert.equal(
    chosen({ language: 'typescript' }, new Toolchains({ bun: missing, node: process.execPath })),
    'node',
  )
  assert.equal(chosen({ language: 'typescript' }, new Toolchains({ bun: missing, node: missing })), 'bun')
})

test('a named runtime is used, even if there are others', () => {
  assert.equal(chosen({ language: 'javascript', runtime: 'node' }), 'node')
  assert.equal(chosen({ language: 'javascript', runtime: 'bun' }, new Toolchains({ bun: missing })), 'bun')
})

test('every pair of runtime and language is either run or refused by name', () => {
  const runs = {
    bun: ['javascript', 'typescript'],
    node: ['javascript', 'typescript'],
    python: ['python'],
    shell: ['shell'],
  }
  for (const runtime of cellRuntimeNames) {
    for (const language of languages) {
      if (runs[runtime].includes(language)) assert.equal(chosen({ language, runtime }), runtime)
      else
        assert.throws(() => chosen({ language, runtime }), {
          code: 'INVALID_REQUEST',
          message: new RegExp(`${runtime} does not run ${language}`),
        })
    }
  }
})
