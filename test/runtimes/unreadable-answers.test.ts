/** A host function may return a proxy of the application that throws whenever it is read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ampleMs } from '../support/patient-run.ts'
import { bun, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

function createRevoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function createUnreadable(): Error {
  const refuse = (): never => {
    throw new Error('nobody looks at this')
  }
  return new Proxy(new Error('hidden'), { getPrototypeOf: refuse, get: refuse, has: refuse, ownKeys: refuse })
}

for (const create of [createRevoked, createUnreadable]) {
  test(`${create.name}: thrown or returned it gets an answer, and so do later calls`, async () => {
    const { outcome, value } = await guests.run({
      ...bun,
      code: 'const told = []\nfor (const f of [now, later, gives]) await f().then(() => told.push("value"), () => told.push("error"));\n[...told, await fine()]',
      functions: {
        now: () => {
          throw create()
        },
        later: () => Promise.reject(create()),
        gives: () => [create()],
        fine: () => 'fine',
      },
      limits: { wallMs: ampleMs },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.deepEqual(value, ['error', 'error', 'error', 'fine'])
  })
}
