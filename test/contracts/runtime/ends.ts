/** How a program ends: codes, errors, signals, values. */
import assert from 'node:assert/strict'
import { it } from 'node:test'

import type { GuestError, Outcome } from '../../../src/core/outcome.ts'
import type { ContractParts } from '../runtime.contract.ts'

export function contractOfEnds({ programs, run }: ContractParts): void {
  for (const exitCode of [0, 1, 3, 255]) {
    it(`completes with exit code ${exitCode} when the program ends with it`, async () => {
      const { outcome } = await run(programs.exitWith(exitCode))
      assert.deepEqual(outcome, { kind: 'completed', exitCode })
    })
  }

  it('completes an empty program without output', async () => {
    const { outcome, stdout, stderr, truncated } = await run('')
    assert.deepEqual(
      { outcome, stdout, stderr, truncated },
      { outcome: { kind: 'completed', exitCode: 0 }, stdout: '', stderr: '', truncated: [] },
    )
  })

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`is killed by ${signal} when the program sends it to itself, and its output is kept`, async () => {
      const { outcome, stdout } = await run(programs.dieBy(signal, 'last words'))
      assert.deepEqual(outcome, { kind: 'killed', signal })
      assert.equal(stdout, 'last words')
    })
  }

  it('ends with the main process, whatever it left behind', async () => {
    const { outcome, stdout } = await run(programs.leaveProcessBehind)
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(stdout, 'parent is done\n')
  })

  contractOfErrors({ programs, run })
  contractOfValues({ programs, run })
}

function contractOfErrors({ programs, run }: ContractParts): void {
  const { errors } = programs
  if (errors === null) return

  it('fails with the name, message and line of an uncaught error', async () => {
    const { outcome, stderr } = await run(errors.uncaught.code)
    assert.equal(outcome.kind, 'failed')
    assertError(outcome, errors.uncaught.error)
    assert.equal(outcome.kind === 'failed' && outcome.exitCode, 1)
    assert.match(stderr, new RegExp(String(errors.uncaught.error.message)))
  })

  it('shows the guest’s own lines in the stack, and no path of Lazaret', async () => {
    const { outcome } = await run(errors.uncaught.code)
    const stack = outcome.kind === 'failed' ? String(outcome.error.stack) : ''
    assert.match(stack, /<code>/)
    assert.doesNotMatch(stack, /\/opt\/lazaret|\/tmp\/|node_modules|guest\.(js|py)/)
  })

  it('is a syntax error, at its line, when the code does not compile', async () => {
    const { outcome } = await run(errors.syntax.code)
    assert.equal(outcome.kind, 'syntax-error')
    assertError(outcome, errors.syntax.error)
  })

  it('runs nothing of a program that does not compile', async () => {
    const { stdout } = await run(`${programs.print('too early')}\n${errors.syntax.code}`)
    assert.equal(stdout, '')
  })

  it('keeps what was printed before an error', async () => {
    const { outcome, stdout } = await run(`${programs.print('before')}\n${errors.uncaught.code}`)
    assert.equal(outcome.kind, 'failed')
    assert.equal(stdout, 'before')
  })
}

function contractOfValues({ programs, run }: ContractParts): void {
  const { value } = programs
  if (value === null) {
    it('has no value', async () => {
      assert.ok(!('value' in (await run(programs.print('text')))))
    })
    return
  }

  it('returns the value of the last expression, as a live value and as text', async () => {
    const result = await run(value.code)
    assert.deepEqual(
      { value: result.value, text: result.valueText },
      { value: value.value, text: value.text },
    )
  })

  it('prints nothing of the value', async () => {
    const { stdout, stderr } = await run(value.code)
    assert.deepEqual({ stdout, stderr }, { stdout: '', stderr: '' })
  })
}

function assertError(outcome: Outcome, expected: Partial<GuestError>): void {
  const error = 'error' in outcome ? outcome.error : assert.fail(`no error in ${JSON.stringify(outcome)}`)
  const seen = Object.fromEntries(Object.keys(expected).map((key) => [key, error[key as keyof GuestError]]))
  assert.deepEqual(seen, expected)
}
