/** The class of an error depends on what happened, never on the text of an error; and what programs cannot do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useService } from './use-service.ts'

const { service, execute, outputOf, errorOf } = useService({ poolSize: 1 })
const libraryNames = 'lodash, date-fns, mathjs, papaparse, jstat, uuid, validator'

test('the text of an error does not determine its class', async () => {
  for (const text of [
    'Unexpected memory limit',
    'Array buffer allocation failed',
    'Script execution timed out.',
    'SyntaxError: Unexpected token',
    "Security Error: Module 'fs' is not allowed in sandboxed code",
    'Isolate was disposed during execution due to memory limit',
    'FATAL ERROR: JavaScript heap out of memory',
    'is_heap_oom = 1',
  ]) {
    for (const thrown of ['new Error(input)', 'new RangeError(input)', 'input', '{ message: input }']) {
      const error = await errorOf('RUNTIME_ERROR', `console.error(input); throw ${thrown}`, {
        inputData: text,
      })
      assert.ok(error.includes(text), error)
    }
    await errorOf('RUNTIME_ERROR', 'void Promise.reject(new Error(input))', { inputData: text })
  }
})

test('the name of an error does not determine its class', async () => {
  for (const name of ['SyntaxError', 'SecurityError', 'TimeoutError'])
    await errorOf('RUNTIME_ERROR', `throw Object.assign(new Error('x'), { name: '${name}' })`)
  await errorOf('RUNTIME_ERROR', 'throw new SyntaxError("x")')
  await errorOf('RUNTIME_ERROR', 'JSON.parse("{")')
  await errorOf('RUNTIME_ERROR', 'new RegExp("(")')
})

test('code that does not parse is a syntax error', async () => {
  for (const code of ['foo(', 'const a = 1; const a = 2', '}', 'return }{', 'let 1', '"\\u{110000}"', 'a b'])
    await errorOf('SYNTAX_ERROR', code)
  await errorOf('SYNTAX_ERROR', 'const a: = 1', { language: 'typescript' })
})

test('an unknown library is not available, and the message lists the others', async () => {
  for (const name of [
    'nothing',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'lodash/nothing',
    'Lodash',
  ])
    assert.equal(
      await errorOf('RUNTIME_ERROR', `require('${name}')`),
      `Module '${name}' is not available. Allowed modules: ${libraryNames}`,
    )
})

test('modules with access to network or files are refused by name', async () => {
  const names = [
    'fs',
    'node:fs',
    'fs/promises',
    'http',
    'node:http2',
    'child_process',
    'os',
    'process',
    'vm',
    'axios',
  ]
  for (const name of [
    ...names,
    'net',
    'path',
    'worker_threads',
    'node:test',
    'cluster',
    'node-fetch',
    'isolated-vm',
  ])
    assert.equal(
      await errorOf('SECURITY_ERROR', `require('${name}')`),
      `Security Error: Module '${name}' is not allowed in sandboxed code`,
    )
})

test('fetch is refused', async () => {
  assert.equal(
    await errorOf('SECURITY_ERROR', "await fetch('https://example.com')"),
    'Security Error: Network access via fetch() is not allowed in sandboxed code',
  )
})

test('creating code from text is refused', async () => {
  for (const code of [
    "eval('1')",
    "(0, eval)('1')",
    "new Function('return 1')",
    "Function('return 1')()",
    "(() => {}).constructor('return 1')()",
    "(async () => {}).constructor('return 1')()",
    "(function* () {}).constructor('return 1')()",
    "await import('lodash')",
    "await import('fs')",
  ])
    assert.match(await errorOf('SECURITY_ERROR', code), /^Security Error: /)
})

test('a program that catches a refusal can succeed', async () => {
  const code = "try { require('fs') } catch (error) { output = error.message }"
  assert.equal(await outputOf(code), "Security Error: Module 'fs' is not allowed in sandboxed code")
  await errorOf('RUNTIME_ERROR', "try { require('fs') } catch {} throw new Error('other')")
})

test('there are no timers, no process and nothing of Node', async () => {
  assert.equal(await errorOf('RUNTIME_ERROR', 'process.exit()'), 'process is not defined')
  const names = [
    'setTimeout',
    'setInterval',
    'setImmediate',
    'process',
    'Buffer',
    'module',
    '__dirname',
    'WebAssembly',
  ]
  assert.deepEqual(
    await outputOf(`output = [${names.map((name) => `typeof ${name}`).join()}]`),
    names.map(() => 'undefined'),
  )
})

test('a range error of the engine is a runtime error', async () => {
  for (const code of [
    '"x".repeat(2 ** 30)',
    'new Array(-1)',
    'new ArrayBuffer(-1)',
    'new ArrayBuffer(2 ** 53)',
  ])
    assert.match(await errorOf('RUNTIME_ERROR', code), /^Invalid /)
  assert.match(await errorOf('RUNTIME_ERROR', 'const f = () => f(); f()'), /call stack/)
})

test('refusals have an error without a class', async () => {
  const refused = async (params: unknown, text: string) => {
    assert.deepEqual(await service.execute(params as never), { success: false, error: text })
  }
  const noCode = 'Code parameter is required and must be a string'
  for (const code of [undefined, null, 5, {}, [], '', Symbol('s')])
    await refused({ code, language: 'javascript' }, noCode)
  const only = "Only 'javascript' and 'typescript' are currently supported."
  for (const language of ['python', 'JavaScript', '', 5])
    await refused({ code: '1', language }, `Unsupported language: ${language}. ${only}`)
  await refused({ code: '1' }, `Unsupported language: undefined. ${only}`)
  for (const params of [undefined, null, 5, 'code'])
    await refused(params, 'Parameters are required and must be an object')
})

test('an unknown parameter is refused by name, so that a misspelt limit never leaves the default in force', async () => {
  const program = { code: 'output = 1', language: 'javascript' } as const
  for (const name of ['timeout', 'memoryLimit', 'timeoutSecond', '__proto__', 'x'.repeat(1000)]) {
    const misspelt = JSON.parse(JSON.stringify(program).replace(/}$/, `,${JSON.stringify(name)}:1}`)) as never
    const { success, error, errorType } = await service.execute(misspelt)
    assert.deepEqual([success, errorType], [false, undefined])
    assert.ok(error?.startsWith(`Unknown parameter: ${name.slice(0, 100)}. The parameters are code, `), error)
    assert.ok(error?.endsWith('maxBridgeCalls, signal, client.'), error)
  }
  const forged = await service.execute({ ...program, 'a\n\u2028\u202eb': 1 } as never)
  assert.match(forged.error ?? '', /^Unknown parameter: a\?\?\?b\. The parameters are /)
  const { error } = await service.executeCodeAction({ ...program, timeoutSeconds: 1 } as never)
  const names = 'code, language, inputData, timeout, memoryLimit'
  assert.equal(error, `Unknown parameter: timeoutSeconds. The parameters are ${names}.`)
})

test('limits outside their range are clamped, invalid ones become the default, with warnings', async () => {
  const warningsOf = async (more: object) => (await execute('1', more)).warnings
  assert.equal(await warningsOf({ timeoutSeconds: 5, memoryLimitMB: 64 }), undefined)
  assert.equal(await warningsOf({ timeoutSeconds: null, memoryLimitMB: null }), undefined)
  assert.equal(await warningsOf({ memoryLimitMB: 64.9 }), undefined)
  assert.deepEqual(await warningsOf({ timeoutSeconds: 500, memoryLimitMB: 1e9 }), [
    'timeoutSeconds must be from 0.001 to 120; 120 is used',
    'memoryLimitMB must be from 8 to 512; 512 is used',
  ])
  assert.deepEqual(await warningsOf({ memoryLimitMB: 1 }), ['memoryLimitMB must be from 8 to 512; 8 is used'])
  for (const garbage of [Number.NaN, '5', -1, 0, {}, true])
    assert.deepEqual(await warningsOf({ timeoutSeconds: garbage, memoryLimitMB: garbage }), [
      'timeoutSeconds must be a number above 0; 30 is used',
      'memoryLimitMB must be a number above 0; 128 is used',
    ])
})

test('inputData that is not JSON gives a failed result with the reason', async () => {
  const cyclic: { me?: unknown } = {}
  cyclic.me = cyclic
  const { success, error, errorType } = await execute('1', { inputData: cyclic })
  assert.deepEqual([success, errorType], [false, undefined])
  assert.match(error ?? '', /inputData cannot be written as JSON: .*circular/)
  assert.match((await execute('1', { inputData: 5n })).error ?? '', /BigInt/)
})
