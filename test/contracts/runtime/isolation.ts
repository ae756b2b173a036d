/** Runs learn nothing about each other. */
import assert from 'node:assert/strict'
import { it } from 'node:test'

import type { ContractParts } from '../runtime.contract.ts'

export function contractOfIsolation({ programs, run }: ContractParts): void {
  it('sees nothing of a concurrent run', async () => {
    const controller = new AbortController()
    const started = Promise.withResolvers<void>()
    const neighbour = run(programs.printThenSleep('ready'), {
      env: { MARK: 'neighbour-mark' },
      files: { 'neighbour-file': '' },
      signal: controller.signal,
      onOutput: () => started.resolve(),
    })
    await Promise.race([started.promise, neighbour])
    // LANG, which an engine reads when it starts, makes this a cold start, so all variables are the process's own.
    const { stdout } = await run(programs.spy, { env: { MARK: 'own-mark', LANG: 'C.UTF-8' } })
    controller.abort()
    assert.deepEqual((await neighbour).outcome, { kind: 'cancelled' })
    assert.match(stdout, /own-mark/)
    // Files of the system may have `neighbour` in their names, too.
    assert.doesNotMatch(stdout, /neighbour-(mark|file)/)
  })

  it('finds nothing of an earlier run', async () => {
    const files = { 'left-behind': 'by the first' }
    assert.match((await run(programs.printNames('.'), { files })).stdout, /left-behind/)
    const { stdout, receipt } = await run(programs.printNames('.', '../tmp'))
    assert.doesNotMatch(stdout, /left-behind/)
    if (receipt.protection === 'restricted') return
    assert.doesNotMatch((await run(programs.printNames('/dev/shm'))).stdout, /left-behind/)
  })

  it('runs twenty at a time, each with its own arguments and output', async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => `number ${index}`)
    const results = await Promise.all(
      numbers.map((number) => run(programs.printArguments, { args: [number] })),
    )
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      numbers.map((number) => `${number}\0`),
    )
    assert.equal(new Set(results.map(({ id }) => id)).size, numbers.length)
  })
}
