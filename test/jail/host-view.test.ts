import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'

import { lookAtHost } from '../../src/jail/host-view.ts'

test('of the host’s /etc nothing is shown but what programs start with, and no place for passwords', () => {
  const { etc } = lookAtHost()
  const harmless = [
    /^\/etc\/(alternatives|fonts|ld\.so\.cache|mime\.types|ssl\/(certs|openssl\.cnf))$/,
    /^\/etc\/python3(\.\d+)?$/,
    /^\/etc\/java-\d+-openjdk\/(security|jvm-\w+\.cfg|logging\.properties)$/,
  ]
  assert.deepEqual(
    etc.filter((path) => !harmless.some((pattern) => pattern.test(path))),
    [],
  )
  assert.deepEqual(
    etc.filter((path) => !existsSync(path)),
    [],
  )
  assert.ok(etc.length > 0)
})
