/** A relay or a secret proxy that does not react any more, as if it were stopped. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { Relays } from '../../../src/jail/edge/relays.ts'
import { Keyring } from '../../../src/jail/edge/secrets/keyring.ts'
import { SecretProxy } from '../../../src/jail/edge/secrets/secret-proxy.ts'
import { listDescendants } from '../../support/machine/processes.ts'

const minuteMs = 60_000

/** A relay that was stopped before it listened. */
async function startStuck({ mock }: TestContext): Promise<{ relays: Relays; standing: Promise<unknown> }> {
  for (let tries = 0; tries < 50; tries++) {
    const relays = new Relays()
    mock.timers.enable({ apis: ['setInterval'] })
    const standing = relays.current()
    standing.catch(() => undefined)
    const { process: relay } = relays
    assert.ok(relay?.pid !== undefined)
    process.kill(relay.pid, 'SIGSTOP')
    const first = await Promise.race([standing, pause(100)])
    if (first === undefined) return { relays, standing }
    await relays[Symbol.asyncDispose]()
    mock.timers.reset()
  }
  throw new Error('Each relay listened before it was stopped.')
}

test('a relay that is stuck before it listens is given up, and the next policy gets another one', async (t) => {
  const { relays, standing } = await startStuck(t)
  await using _ = relays
  t.mock.timers.tick(minuteMs)
  await assert.rejects(standing, { code: 'CELL_FAILED', message: /relay could not be started/ })
  assert.equal((await relays.current()).isLost, false)
})

const listChildren = () =>
  listDescendants(process.pid)
    .filter(({ parent }) => parent === process.pid)
    .map(({ pid }) => pid)

test('a secret proxy that does not answer is killed, and its connections are refused', async (t) => {
  const target = { host: 'api.example', port: 443 }
  const network = { allow: ['api.example'] }
  const keyring = new Keyring({ KEY: { value: 'not-a-secret', hosts: ['api.example'] } }, network)
  const opened = keyring.open(target)
  assert.ok(opened)
  const connection = { target, addresses: ['192.0.2.1'], connectMs: 1000, ...opened }
  const before = new Set(listChildren())
  const proxy = new SecretProxy({ keyring, connectionsMax: 8, onUnreachable: () => undefined })
  const pid = listChildren().find((one) => !before.has(one))
  assert.ok(pid !== undefined)
  await proxy.expect(connection)
  process.kill(pid, 'SIGSTOP')
  t.mock.timers.enable({ apis: ['setInterval'] })
  const late = proxy.expect(connection)
  late.catch(() => undefined)
  await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(minuteMs)
  await assert.rejects(late, { code: 'CELL_FAILED', message: /secret proxy is gone/ })
  assert.equal(proxy.isLost, true)
  await proxy.end()
})
