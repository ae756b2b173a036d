import assert from 'node:assert/strict'
import { test } from 'node:test'

import { adviseOn } from '../../src/jail/advice.ts'
import { explainFailure } from '../../src/jail/launch.ts'
import { ownGround, planExample } from './example-cell.ts'

const plan = planExample(ownGround)
const failedAt = (name: string, errno: number) =>
  explainFailure(
    { record: plan.records.findIndex((record) => record.do === name), errno, step: 'some step' },
    plan,
  )
const EPERM = 1
const EIO = 5

test('a refusal of the machine is JAIL_UNAVAILABLE and says how to allow it', () => {
  for (const [name, hint] of [
    ['clone', /AppArmor.*max_user_namespaces/],
    ['mount', /systempaths=unconfined/],
  ] as const) {
    const error = failedAt(name, EPERM)
    assert.equal(error.code, 'JAIL_UNAVAILABLE')
    assert.match(error.hint, hint)
    assert.match(error.message, new RegExp(`Step "some step" \\(${name}.*EPERM, operation not permitted`))
  }
})

test('any other failure is CELL_FAILED with the step and the errno', () => {
  const error = failedAt('mount', EIO)
  assert.equal(error.code, 'CELL_FAILED')
  assert.match(error.message, /Step "some step" \(mount .*EIO/)
  assert.equal(failedAt('serve', EPERM).code, 'CELL_FAILED')
})

test('a failure after the cell stood names no record', () => {
  const error = explainFailure({ record: null, errno: 9999, step: 'execute the program' }, plan)
  assert.match(error.message, /Step "execute the program" failed: errno 9999/)
})

test('a guest that cannot be restricted by Landlock says what the kernel lacks', () => {
  const EOPNOTSUPP = 95
  const error = explainFailure({ record: null, errno: EOPNOTSUPP, step: 'apply Landlock' }, plan)
  assert.equal(error.code, 'JAIL_UNAVAILABLE')
  assert.match(error.hint, /lsm=/)
})

test('there is no advice for what is not the machine’s policy', () => {
  assert.equal(adviseOn('clone', 'create the namespaces', 'ENOMEM'), undefined)
  assert.equal(adviseOn('hostname', 'set the hostname', 'EPERM'), undefined)
})
