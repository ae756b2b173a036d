/** The caller cancels a run. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { it } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import type { ContractParts } from '../runtime.contract.ts'

export function contractOfCancellation({ programs, run }: ContractParts): void {
  it('runs nothing when the signal is aborted already', async () => {
    const { outcome, stdout, usage } = await run(programs.print('too late'), { signal: AbortSignal.abort() })
    assert.deepEqual(
      { outcome, stdout, wallMs: usage.wallMs },
      { outcome: { kind: 'cancelled' }, stdout: '', wallMs: 0 },
    )
  })

  it('ends when the signal is aborted before the program has started', async () => {
    const controller = new AbortController()
    const running = run(programs.printThenLoop(''), { signal: controller.signal })
    controller.abort()
    assert.deepEqual((await running).outcome, { kind: 'cancelled' })
  })

  it('ends a busy program when the signal is aborted and keeps its output', async () => {
    const controller = new AbortController()
    const onOutput = (): void => controller.abort()
    const { outcome, stdout } = await run(programs.printThenLoop('busy'), {
      signal: controller.signal,
      onOutput,
    })
    assert.deepEqual({ outcome, stdout }, { outcome: { kind: 'cancelled' }, stdout: 'busy' })
  })

  it('ignores a signal that is aborted after the end, and no longer listens to it', async () => {
    const controller = new AbortController()
    const { outcome } = await run(programs.print('done'), { signal: controller.signal })
    controller.abort()
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  it('ends as cancelled when its Lazaret is disposed, which then refuses the next run', async () => {
    const lazaret = createLazaret()
    const { language, runtime } = programs
    const started = Promise.withResolvers<void>()
    const code = programs.printThenLoop('busy')
    const running = lazaret.run({ code, language, runtime, onOutput: () => started.resolve() })
    await Promise.race([started.promise, running])
    await lazaret[Symbol.asyncDispose]()
    const { outcome, stdout } = await running
    assert.deepEqual({ outcome, stdout }, { outcome: { kind: 'cancelled' }, stdout: 'busy' })
    await assert.rejects(lazaret.run({ code, language, runtime }), { code: 'DISPOSED' })
  })
}
