/**
 * The built files that the package's entries import use nothing that the oldest Node of package.json lacks. Code in a
 * cell runs in another Node or Bun.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

import { oldestVersion } from '../scripts/testing/oldest-node.ts'
import { checkoutRoot, readText } from './support/sources/checkout.ts'
import { findNewerNames, namesDefinedIn } from './support/sources/newer-names.ts'
import { listNodeNames } from './support/sources/node-names.ts'
import type { NodeNames } from './support/sources/node-names.ts'

const oldest = JSON.parse(readText('test/support/sources/oldest-node-names.json')) as NodeNames
const nodes = { oldest, newest: listNodeNames() }

/** The last one is not imported; a thread of the host starts with it. */
const entries = [
  'index.js',
  'adapters/actor/index.js',
  'adapters/snippet-tool/index.js',
  'adapters/cli/main.js',
  'runtimes/snippet/guest.js',
].map((name) => join(checkoutRoot, 'dist', name))

/**
 * The code checks for `threadCpuUsage` before it uses it, and `getter` is zod's own. Built files have no stable names,
 * so these are listed by name.
 */
const harmless = ['.getter', '.threadCpuUsage']

/** All files that the entries import, directly or indirectly. */
function hostFiles(): string[] {
  const files = new Set<string>(entries)
  for (const file of files) {
    const imports = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"](\.{1,2}\/[^'"]+)['"]/g
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(imports)) {
      const imported = join(dirname(file), path)
      if (existsSync(imported)) files.add(imported)
    }
  }
  return [...files]
}

test('the list of names is that of the oldest Node that is promised', () => {
  assert.equal(oldest.version, oldestVersion())
})

test('what runs in the host uses nothing that the oldest Node lacks', () => {
  const files = hostFiles()
  assert.ok(files.length > 30, `${files.length} files`)
  const texts = files.map((file) => ({
    file: file.slice(checkoutRoot.length),
    code: readFileSync(file, 'utf8'),
  }))
  const own = new Set(texts.flatMap(({ code }) => namesDefinedIn(code)))
  const found = texts.flatMap(({ file, code }) =>
    findNewerNames(code, { ...nodes, own }).map((name) => `${file}: ${name}`),
  )
  assert.deepEqual(
    found.filter((one) => !harmless.some((name) => one.endsWith(`: ${name}`))),
    [],
  )
})

/** Code that V8 12.4 or Node 22.12 does not support, and the check's finding. */
const newer: Readonly<Record<string, string>> = {
  'await using a = b()': 'syntax: ',
  "import json from './a.json' with { type: 'json' }": 'syntax: ',
  'import defer * as late from "./late.js"': 'syntax: ',
  '/(?i:a)b/': 'syntax: ',
  'const stack = new AsyncDisposableStack()': 'AsyncDisposableStack',
  'new DisposableStack()': 'DisposableStack',
  'throw new SuppressedError()': 'SuppressedError',
  'new Float16Array(1)': 'Float16Array',
  'Promise.try(() => 1)': 'Promise.try',
  "RegExp.escape('a')": 'RegExp.escape',
  'Error.isError(1)': 'Error.isError',
  'Math.sumPrecise([1])': 'Math.sumPrecise',
  'Math.f16round(1)': 'Math.f16round',
  'Atomics.pause()': 'Atomics.pause',
  "Uint8Array.fromBase64('')": 'Uint8Array.fromBase64',
  'Iterator.concat([])': 'Iterator.concat',
  "import { registerHooks } from 'node:module'": 'registerHooks of node:module',
  "process.execve('/bin/true')": '.execve',
}

for (const [code, said] of Object.entries(newer))
  test(`the check finds ${said.replace(/: $/, '')} in ${code}`, () => {
    const [first = 'nothing'] = findNewerNames(code, nodes)
    assert.ok(first.startsWith(said), first)
  })

test('the check accepts what the oldest Node has, guarded uses, and a file’s own names', () => {
  const code = `
    import { readFile as read } from 'node:fs/promises'
    const { groupBy } = Map
    class Own { execve() {} static try() {} }
    const helper = typeof SuppressedError === 'function' ? SuppressedError : Error
    label: for (const { a: [b], ...rest } of [1].values().map((one) => one)) { new Own().execve(b, rest, read); break label }
    Promise.withResolvers(); Array.fromAsync([]); new Set().union(new Set()); Object.hasOwn({}, 'a'); helper.call(groupBy)`
  assert.deepEqual(findNewerNames(code, nodes), [])
})
