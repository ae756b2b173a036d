import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig, parseConfig } from '../../../src/adapters/cli/config-file.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

test('the nearest file from the folder upwards counts', async () => {
  await using folder = await createTemporaryFolder()
  const inner = join(folder.path, 'a', 'b')
  await mkdir(inner, { recursive: true })
  await writeFile(join(folder.path, 'lazaret.config.json'), '{"minimumProtection":"strong"}')
  assert.deepEqual(await loadConfig(undefined, inner), { minimumProtection: 'strong' })
  await writeFile(join(folder.path, 'a', 'lazaret.config.json'), '{"ceilings":{"wallMs":1000}}')
  assert.deepEqual(await loadConfig(undefined, inner), { ceilings: { wallMs: 1_000 } })
})

test('a file that is named must be there', async () => {
  await using folder = await createTemporaryFolder()
  await assert.rejects(loadConfig('other.json', folder.path), { name: 'UsageError', message: /no such file/ })
  await assert.rejects(loadConfig('.', folder.path), { name: 'UsageError', message: /cannot read/ })
})

test('paths are relative to the file', () => {
  const text = '{"toolchains":{"bun":"tools/bun"},"readable":[{"host":"../data","guest":"/data"}]}'
  assert.deepEqual(parseConfig(text, '/home/app/lazaret.config.json'), {
    toolchains: { bun: '/home/app/tools/bun' },
    readable: [{ host: '/home/data', guest: '/data' }],
  })
})

test('no processor limit can be said as null', () => {
  assert.deepEqual(parseConfig('{"defaults":{"cpuMs":null}}', '/c.json'), { defaults: { cpuMs: null } })
})

test('an unknown key, a wrong value and text that is not JSON are mistakes that name the file', () => {
  const mistakes = {
    '{"celings":{}}': /celings/,
    '{"ceilings":{"wallMS":1}}': /ceilings.*wallMS/,
    '{"ceilings":{"wallMs":null}}': /ceilings\.wallMs/,
    '{"defaults":{"memoryBytes":-1}}': /defaults\.memoryBytes/,
    '{"minimumProtection":"perfect"}': /minimumProtection/,
    '{"allowUnenforced":["speed"]}': /allowUnenforced/,
    '[]': /object/,
    '{': /not JSON/,
  }
  for (const [text, pattern] of Object.entries(mistakes)) {
    assert.throws(
      () => parseConfig(text, '/home/c.json'),
      (error: Error) =>
        error.name === 'UsageError' && error.message.includes('/home/c.json') && pattern.test(error.message),
      text,
    )
  }
})
