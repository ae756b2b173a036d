/**
 * Parameters and options of all kinds: `execute` answers each with a result, and wrong options throw a LazaretError.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../support/fast-check.ts'

import { CodeExecutionService, WorkerPool } from '../../../src/adapters/code-execution/index.ts'
import type { CodeExecutionResult } from '../../../src/adapters/code-execution/index.ts'
import { LazaretError } from '../../../src/index.ts'
import { useService } from './use-service.ts'

const { service, outputOf } = useService({ poolSize: 2, maxCrashesPerWorker: 1 })

const fail = (): never => {
  throw new Error('do not look')
}
const throwing = new Proxy(
  {},
  { get: fail, ownKeys: fail, has: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail },
)
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const cyclic: { me?: unknown } = {}
cyclic.me = cyclic
const textless = { toString: fail, [Symbol.toPrimitive]: fail }
const unreadableError = Object.defineProperty(new Error('x'), 'message', { get: fail })
const getters = Object.defineProperty({}, 'a', { get: fail, enumerable: true })

const odd: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -0, -1, 1.5, Number.NaN, Infinity, -Infinity, 2 ** 53, 1e308, 5n],
  ...['', 'text', '\0', '\ud800', '__proto__', 'x'.repeat(1e5), Symbol('s'), Symbol.iterator],
  ...[{}, [], [1, [2]], Object.create(null), new Map([[1, 2]]), new Set([1]), new Date(Number.NaN), /a/],
  ...[
    () => 1,
    CodeExecutionService,
    async () => 1,
    throwing,
    revoked.proxy,
    cyclic,
    textless,
    unreadableError,
    getters,
  ],
  ...[
    new Uint8Array(3),
    new ArrayBuffer(8),
    Promise.resolve(1),
    new Error('e'),
    globalThis,
    process.env,
    JSON,
    Math,
  ],
  ...[
    { toJSON: fail },
    Object.fromEntries(['then'].map((name) => [name, fail])),
    { aborted: true },
    { valueOf: () => 5 },
    new AbortController(),
    new WeakMap(),
  ],
]

const fields = [
  'inputData',
  'timeoutSeconds',
  'memoryLimitMB',
  'bridge',
  'maxBridgeCalls',
  'signal',
  'client',
] as const

/** Checks that it is a result of the promised shape. */
function check(result: CodeExecutionResult): CodeExecutionResult {
  const { success, error, errorType, logs, warnings } = result
  assert.equal(typeof success, 'boolean')
  assert.equal(typeof error, success ? 'undefined' : 'string')
  if (success) assert.equal(errorType, undefined)
  for (const list of [logs, warnings])
    assert.ok(list === undefined || (Array.isArray(list) && list.length > 0))
  return result
}

const executeAny = async (params: unknown): Promise<CodeExecutionResult> =>
  check(await service.execute(params as never))

test('parameters of a wrong type are refused', async () => {
  for (const params of odd) {
    for (const result of [await executeAny(params), await service.executeCodeAction(params as never)])
      assert.deepEqual([result.success, result.errorType], [false, undefined])
  }
})

test('invalid code and languages are refused', async () => {
  for (const value of odd) {
    assert.equal((await executeAny({ code: value, language: 'python' })).success, false)
    const { success, errorType } = await executeAny({ code: '1', language: value })
    assert.deepEqual([success, errorType], [false, undefined])
  }
})

for (const field of fields)
  test(`any value of ${field} is accepted or refused`, async () => {
    for (const value of odd) {
      const { success, errorType } = await executeAny({
        code: 'output = 1',
        language: 'javascript',
        [field]: value,
      })
      // A timeout may be shorter than the program's time.
      if (!success && field !== 'timeoutSeconds') assert.equal(errorType, undefined)
    }
    assert.equal(await outputOf('output = 1'), 1)
  })

test('parameters that cannot be read are refused', async () => {
  for (const field of ['code', 'language', ...fields]) {
    const params = Object.defineProperty({ code: '1', language: 'javascript' }, field, { get: fail })
    assert.match((await executeAny(params)).error ?? '', /cannot be read: do not look/)
  }
})

test('input that JSON can express arrives as in JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (inputData) => {
      assert.deepEqual(await outputOf('output = input', { inputData }), JSON.parse(JSON.stringify(inputData)))
    }),
    { numRuns: 60 },
  )
})

test('any text as a program ends with one of the documented results', async () => {
  const token = fc.constantFrom(
    ...[
      'output',
      '=',
      'input',
      '(',
      ')',
      '{',
      '}',
      '[',
      ']',
      ';',
      '\n',
      '`',
      '${',
      '/*',
      '//',
      '"',
      'await',
      'return',
    ],
    ...[
      'import',
      'export',
      'class',
      '=>',
      'function',
      '1',
      'yield',
      '#!',
      '\u2028',
      '\ud800',
      '\0',
      '<!--',
      'with(this)',
    ],
  )
  const text = fc.oneof(
    fc.array(token, { minLength: 1, maxLength: 12 }).map((tokens) => tokens.join(' ')),
    fc.string({ minLength: 1, unit: 'binary' }),
  )
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom('javascript', 'typescript'), async (code, language) => {
      const { success, errorType } = await executeAny({ code, language, timeoutSeconds: 5 })
      if (!success) assert.match(`${errorType}`, /^(SYNTAX|RUNTIME|SECURITY)_ERROR$|^TIMEOUT$/)
    }),
    { numRuns: 120 },
  )
  assert.equal(await outputOf('output = 1'), 1)
})

test('code with unbalanced closing brackets is a syntax error', async () => {
  for (const code of [
    '}); output = 1; (() => {',
    '} output = 1; {',
    '*/ output = 1 /*',
    '}}}}',
    '){',
    '\n}\n{\n',
  ])
    assert.equal((await executeAny({ code, language: 'javascript' })).errorType, 'SYNTAX_ERROR', code)
})

test('huge code and input are run or refused', async () => {
  const long = `/* ${'x'.repeat(5e6)} */ output = input.length`
  const result = await executeAny({ code: long, language: 'javascript', inputData: 'y'.repeat(2e6) })
  assert.ok(result.success ? result.output === 2e6 : result.errorType === undefined, result.error)
  const deep = await executeAny({ code: `output = ${'['.repeat(1e5)}`, language: 'javascript' })
  assert.equal(deep.errorType, 'SYNTAX_ERROR')
})

test('an unreadable handler, reason or result is reported, too', async () => {
  for (const value of odd) {
    const bridge = { give: () => value, refuse: () => Promise.reject(value) }
    const code =
      'try { await bridge.give() } catch {} try { await bridge.refuse() } catch (error) { output = typeof error }'
    assert.equal(await outputOf(code, { bridge }), 'object')
    const signal = AbortSignal.abort(value)
    const { success, errorType } = await executeAny({ code: 'for (;;);', language: 'javascript', signal })
    assert.deepEqual([success, errorType], [false, 'TIMEOUT'])
  }
})

test('invalid options are refused with a LazaretError', () => {
  const names = ['poolSize', 'maxQueueSize', 'maxCrashesPerWorker', 'crashTimeWindow', 'logger', 'onEvent']
  const create = (options: unknown) => {
    for (const Kind of [CodeExecutionService, WorkerPool])
      try {
        void new Kind(options as never)
      } catch (error) {
        assert.ok(error instanceof LazaretError, String(error))
        assert.equal(error.code, 'INVALID_REQUEST')
      }
  }
  for (const value of odd) {
    create(value)
    for (const name of [...names, 'libraries', 'replaceLibraries', 'engine']) create({ [name]: value })
    create({ libraries: { name: value } })
  }
  for (const poolSize of [0, -1, 1.5, Number.NaN, '2', null, 1e9])
    assert.throws(() => new CodeExecutionService({ poolSize: poolSize as never }), {
      code: 'INVALID_REQUEST',
    })
  const misspelt = { poolsize: 4, engine: { minimumProtection: 'strong' } }
  for (const Kind of [CodeExecutionService, WorkerPool])
    assert.throws(() => new Kind(misspelt as never), {
      code: 'INVALID_REQUEST',
      message: /Unknown option: poolsize\. The options are poolSize, .*engine\.$/,
    })
  for (const libraries of [{ '': '' }, { '../a': '' }, { 'a b': '' }, { a: 5 }])
    assert.throws(() => new CodeExecutionService({ libraries: libraries as never }), {
      code: 'INVALID_REQUEST',
    })
})
