import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../../../src/adapters/cli/configuration/config-file.ts'

test('paths are relative to the file', () => {
  const text = '{"toolchains":{"bun":"tools/bun"},"readable":[{"host":"../share","guest":"/data"}]}'
  assert.deepEqual(parseConfig(text, '/usr/lib/lazaret.config.json'), {
    toolchains: { bun: '/usr/lib/tools/bun' },
    readable: [{ host: '/usr/share', guest: '/data' }],
  })
})

test('null means no limit on processor time', () => {
  assert.deepEqual(parseConfig('{"defaults":{"cpuMs":null}}', '/c.json'), { defaults: { cpuMs: null } })
})

test('the error for an unknown key, a wrong value or text that is not JSON names the file', () => {
  const mistakes = {
    '{"celings":{}}': /celings/,
    '{"ceilings":{"wallMS":1}}': /ceilings.*wallMS/,
    '{"ceilings":{"wallMs":null}}': /ceilings\.wallMs/,
    '{"defaults":{"memoryBytes":-1}}': /defaults\.memoryBytes/,
    '{"minimumProtection":"perfect"}': /minimumProtection/,
    '{"allowUnenforced":["speed"]}': /allowUnenforced/,
    '{"readable":[{"host":"none","guest":"/data"}]}': /readable\[0\]\.host: does not exist/,
    '{"pools":{"perl":{}}}': /pools.*perl/,
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
