import assert from 'node:assert/strict'
import { test } from 'node:test'

import { LazaretError, errorTable } from '../../src/core/errors/errors.ts'
import type { ErrorCode } from '../../src/core/errors/errors.ts'

const codes = Object.keys(errorTable) as ErrorCode[]
/** Callers compare their texts. */
const wordedByContract: readonly ErrorCode[] = ['CIRCUIT_OPEN']

for (const code of codes) {
  test(`${code} says what happened and what to do next, in sentences`, () => {
    const { message, hint } = errorTable[code]
    for (const text of wordedByContract.includes(code) ? [hint] : [message, hint])
      assert.match(text, /^[A-Z].*\.$/)
  })

  test(`${code} maps to a status and an exit code of its kind`, () => {
    const { kind, httpStatus, exitCode } = errorTable[code]
    assert.ok(
      kind === 'fault' ? httpStatus >= 500 : (httpStatus >= 400 && httpStatus < 500) || httpStatus === 503,
      String(httpStatus),
    )
    assert.ok([64, 65, 69, 70, 74, 75].includes(exitCode), String(exitCode))
  })
}

test('an error has the fields of its row, except for its own detail and hint', () => {
  const cause = new Error('below')
  const error = new LazaretError('CELL_FAILED', { detail: 'Step "x" failed.', hint: 'Do this.', cause })
  assert.equal(error.message, `${errorTable.CELL_FAILED.message} Step "x" failed.`)
  assert.deepEqual(
    [error.code, error.kind, error.hint, error.retryable, error.httpStatus, error.exitCode, error.cause],
    ['CELL_FAILED', 'fault', 'Do this.', true, 500, 70, cause],
  )
  assert.ok(error instanceof Error && error.name === 'LazaretError')
})

test('an error without details is its row alone', () => {
  const error = new LazaretError('DISPOSED')
  assert.deepEqual(
    [error.message, error.hint, 'cause' in error],
    [errorTable.DISPOSED.message, errorTable.DISPOSED.hint, false],
  )
})

test('errors that interfaces send have no stack and no cause', () => {
  const shown = JSON.parse(
    JSON.stringify(new LazaretError('INTERNAL', { cause: new Error('secret path') })),
  ) as object
  assert.deepEqual(Object.keys(shown), ['code', 'kind', 'message', 'hint', 'retryable'])
})
