/** Ways to exhaust memory: each results in MEMORY_LIMIT, none takes long, and the next program runs. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import type { SlotEvent } from '../../../src/adapters/code-execution/index.ts'
import { bombs } from '../../support/hostile/isolate-bombs.ts'
import { useService } from './use-service.ts'

const events: SlotEvent[] = []
const { execute, outputOf, errorOf } = useService({ poolSize: 1, onEvent: (event) => events.push(event) })
/** On an idle machine each takes less than two seconds; this one may be busy. */
const timeoutSeconds = 60

for (const [name, code] of Object.entries(bombs))
  test(`${name}: MEMORY_LIMIT, and the next program runs`, async () => {
    const text = 'Code execution exceeded memory limit of 128 MB'
    assert.equal(await errorOf('MEMORY_LIMIT', code, { timeoutSeconds }), text)
    assert.equal(await outputOf('output = 1'), 1)
  })

test('a failed allocation that the program catches is not a failure', async () => {
  const code = 'try { new ArrayBuffer(500e6) } catch (error) { output = error.message } new Uint8Array(10)'
  assert.equal(await outputOf(code), 'Array buffer allocation failed')
})

test('only a failed allocation of the engine is MEMORY_LIMIT, whatever an error claims', async () => {
  const text = "'Array buffer allocation failed'"
  for (const code of [
    `throw new RangeError(${text})`,
    `throw [${text}].map(RangeError)[0]`,
    `throw Reflect.construct(RangeError, [${text}])`,
    `class ArrayBuffer { constructor() { throw new RangeError(${text}) } }; new ArrayBuffer()`,
    `const e = new RangeError(${text}); Error.prepareStackTrace(e, [{ getLineNumber: () => null }]); throw e`,
    `const e = new RangeError(${text}); new Uint8Array({ length: 1, get 0() { throw e } })`,
  ])
    assert.match(await errorOf('RUNTIME_ERROR', code), /Array buffer allocation failed/)
})

test('a failed allocation in an unawaited job is MEMORY_LIMIT, too', async () => {
  await errorOf(
    'MEMORY_LIMIT',
    'void (async () => { await 0; new ArrayBuffer(500e6) })(); await 0; await 0; await 0',
  )
})

test('a program may have more or less memory than others', async () => {
  const code = 'output = new Array(5e6).fill(1.5).length'
  assert.equal(await outputOf(code, { memoryLimitMB: 256 }), 5e6)
  const { errorType, error } = await execute(code, { memoryLimitMB: 16 })
  assert.deepEqual([errorType, error], ['MEMORY_LIMIT', 'Code execution exceeded memory limit of 16 MB'])
})

after(() => {
  assert.deepEqual(
    events.filter(({ to }) => to === 'crashed' || to === 'disabled'),
    [],
    'what exhausts its memory is no crash of its worker',
  )
})
