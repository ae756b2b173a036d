/** The libraries that programs may require: the default seven, additional ones, or others in their place. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import {
  CodeExecutionService,
  getAllowedModuleNames,
  getLibrarySource,
  isModuleAllowed,
} from '../../../src/adapters/code-execution/index.ts'
import type { SlotEvent } from '../../../src/adapters/code-execution/index.ts'
import { useService } from './use-service.ts'

const seven = ['lodash', 'date-fns', 'mathjs', 'papaparse', 'jstat', 'uuid', 'validator']
const folder = mkdtempSync(join(tmpdir(), 'libraries-'))
const path = join(folder, 'tax.js')
writeFileSync(path, "exports.rate = () => require('rates').rate")
after(() => rmSync(folder, { recursive: true }))

const libraries = {
  rates: 'module.exports = { rate: 0.2 }',
  tax: path,
  '@scope/own': 'exports.name = "own"',
  broken: 'throw new Error("does not load")',
  wrong: 'exports.a = (',
  maker: 'exports.two = new Function("return 2")()',
}
const events: SlotEvent[] = []
const { service, execute, outputOf, errorOf } = useService({
  poolSize: 1,
  libraries,
  onEvent: (event) => events.push(event),
})

test('the module functions describe the seven libraries', () => {
  assert.deepEqual(getAllowedModuleNames(), seven)
  getAllowedModuleNames().push('fs')
  assert.deepEqual(getAllowedModuleNames(), seven)
  for (const name of seven) {
    assert.equal(isModuleAllowed(name), true)
    assert.ok((getLibrarySource(name) ?? '').length > 1000)
  }
  for (const name of ['fs', '', '__proto__', 'constructor', 'lodash/fp', undefined, null, 5, {}]) {
    assert.equal(isModuleAllowed(name as never), false)
    assert.equal(getLibrarySource(name as never), null)
  }
})

test('each of the seven libraries loads', async () => {
  const code = `output = ${JSON.stringify(seven)}.map((name) => Object.keys(require(name)).length > 3)`
  assert.deepEqual(
    await outputOf(code),
    seven.map(() => true),
  )
  for (const name of seven) await outputOf(`require('${name}'); output = 1`)
})

test('libraries from a text or a file are added to the seven', async () => {
  assert.equal(await outputOf("output = require('tax').rate()"), 0.2)
  assert.equal(
    await outputOf("output = require('@scope/own').name + typeof require('lodash').chunk"),
    'ownfunction',
  )
  assert.equal(await outputOf("output = require('maker').two"), 2)
})

test('a library that does not load fails only the programs that use it', async () => {
  assert.match(await errorOf('RUNTIME_ERROR', "require('broken')"), /does not load/)
  await errorOf('RUNTIME_ERROR', "require('wrong')")
  // Isolates with a library are created in advance; a failure there must not end the worker.
  for (let round = 0; round < 4; round++) {
    await errorOf('RUNTIME_ERROR', "require('broken')")
    assert.equal(await outputOf('output = 1'), 1)
  }
})

test('a library that needs more memory than the program has is MEMORY_LIMIT, and the worker survives', async () => {
  for (let round = 0; round < 4; round++) {
    const { success, errorType } = await execute("require('mathjs'); output = 1", { memoryLimitMB: 8 })
    assert.ok(success || errorType === 'MEMORY_LIMIT', errorType)
    assert.equal(await outputOf('output = 1'), 1)
  }
  assert.deepEqual(
    events.filter(({ to }) => to === 'crashed'),
    [],
  )
})

test('the methods of a service describe its own libraries', async () => {
  assert.deepEqual(service.getAllowedModuleNames(), [...seven, ...Object.keys(libraries)])
  assert.equal(service.isModuleAllowed('tax'), true)
  assert.equal(service.isModuleAllowed('lodash'), true)
  assert.equal(service.isModuleAllowed('fs'), false)
  assert.equal(service.getLibrarySource('rates'), libraries.rates)
  assert.match(service.getLibrarySource('tax') ?? '', /exports\.rate/)
  assert.equal(service.getLibrarySource('fs'), null)
  assert.equal(service.getLibrarySource('__proto__'), null)
})

test('replaceLibraries replaces the seven', async () => {
  await using own = new CodeExecutionService({
    poolSize: 1,
    libraries: { lodash: 'exports.own = 1', fs: 'exports.mine = 2' },
    replaceLibraries: true,
  })
  assert.deepEqual(own.getAllowedModuleNames(), ['lodash', 'fs'])
  assert.equal(own.isModuleAllowed('mathjs'), false)
  assert.equal(own.getLibrarySource('mathjs'), null)
  const run = (code: string) => own.execute({ code, language: 'javascript' })
  assert.equal((await run("output = require('lodash').own + require('fs').mine")).output, 3)
  assert.equal(
    (await run("require('mathjs')")).error,
    "Module 'mathjs' is not available. Allowed modules: lodash, fs",
  )
  await using none = new CodeExecutionService({ poolSize: 1, replaceLibraries: true })
  const { error } = await none.execute({ code: "require('lodash')", language: 'javascript' })
  assert.equal(error, "Module 'lodash' is not available. Allowed modules: none")
})

test('a file that cannot be read is reported when workers start', async () => {
  for (const missing of [join(folder, 'none.js'), folder]) {
    await using own = new CodeExecutionService({ poolSize: 1, libraries: { tax: missing } })
    await assert.rejects(own.initialize(), { code: 'INVALID_REQUEST', message: /libraries\.tax/ })
    const { success, error, errorType } = await own.execute({ code: '1', language: 'javascript' })
    assert.deepEqual([success, errorType], [false, undefined])
    assert.match(error ?? '', /libraries\.tax/)
  }
})
