import assert from 'node:assert/strict'
import { test } from 'node:test'

import { sliceOf } from '../../../src/jail/cgroup/scope.ts'

test('a scope is in the slice of its host, as far as the manager that makes it knows that slice', () => {
  const session = '/user.slice/user-1000.slice/session-4.scope'
  const inManager = '/user.slice/user-1000.slice/user@1000.service/app.slice/app-run.slice/run-1.scope'
  assert.deepEqual(
    [
      ['/system.slice/app.service', false],
      [session, false],
      [inManager, false],
      [inManager, true],
      [session, true],
      ['/user.slice/user-1000.slice/user@1000.service/init.scope', true],
      ['/init.scope', false],
      ['/', false],
    ].map(([path, isOfUser]) => sliceOf(path as string, isOfUser as boolean)),
    [
      'system.slice',
      'user-1000.slice',
      'user-1000.slice',
      'app-run.slice',
      undefined,
      undefined,
      undefined,
      undefined,
    ],
  )
})
