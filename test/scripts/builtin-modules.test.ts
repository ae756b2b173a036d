/** How bundles get Node's own modules: without imports, and some only when one of their functions is called. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

import { nameBuiltinModules } from '../../scripts/bundling/builtin-modules.ts'

/** The output of a module in a separate process. */
function print(code: string): unknown {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

const isLoaded = (module: string) => `process.moduleLoadList.includes('NativeModule ${module}')`

test('names, defaults and whole modules are the same as with imports', () => {
  const code = nameBuiltinModules(`#!/usr/bin/env node
import path, { join as j, 'sep' as sep } from "node:path";
import * as os from "node:os";
import own from "./own.js";
`)
  assert.ok(code.startsWith('#!/usr/bin/env node\n'))
  assert.doesNotMatch(code, /from "node:/)
  assert.match(code, /import own from "\.\/own\.js"/)
  const printed = print(`${code.replace(/^#!.*/, '').replace(/import own.*/, '')}
console.log(JSON.stringify([path.basename('/a/b'), j('a', 'b'), sep, typeof os.cpus]))`)
  assert.deepEqual(printed, ['b', 'a/b', '/', 'function'])
})

test('a rarely needed module is loaded by the first call', () => {
  const code = nameBuiltinModules(`import { hash as h } from "node:crypto";
import { Resolver as R, lookup } from "node:dns/promises";`)
  const loaded = `[${isLoaded('crypto')}, ${isLoaded('dns/promises')}]`
  const printed = print(`${code}
const before = ${loaded}
const digest = h('sha256', '', 'hex')
const resolver = new R()
console.log(JSON.stringify([before, digest.slice(0, 8), typeof resolver.resolve4, typeof lookup, ${loaded}]))`)
  assert.deepEqual(printed, [[false, false], 'e3b0c442', 'function', 'function', [true, true]])
})

test('exports that are not functions are read at once', () => {
  const late = nameBuiltinModules(`import { Worker as W } from "node:worker_threads";`)
  const atOnce = nameBuiltinModules(
    `import { Worker as W, workerData, isMainThread as m } from "node:worker_threads";`,
  )
  const loaded = isLoaded('worker_threads')
  assert.equal(print(`${late}\nconsole.log(${loaded})`), false)
  assert.deepEqual(print(`${atOnce}\nconsole.log(JSON.stringify([${loaded}, m, workerData]))`), [
    true,
    true,
    null,
  ])
})
