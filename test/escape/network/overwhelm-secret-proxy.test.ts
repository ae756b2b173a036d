/**
 * Crashing the secret proxy, or opening it: requests that Node parses but refuses to write, more requests than anybody
 * answers, placeholders that expand to megabytes of values, its debugger, and a machine on which it cannot start.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

import { findProxies, useSecretApi } from '../../support/hosts/use-secret-api.ts'

const value = 'sk-Long-'.padEnd(4096, 'a/b+c&')
const { api, open, run, skip } = await useSecretApi(value)

/** The proxy process, which must still be alive after `act`. */
async function withOneProxy(act: () => Promise<void>): Promise<void> {
  const before = findProxies()
  await act()
  assert.deepEqual(findProxies(), before)
  assert.equal(before.length, 1)
}

describe('a guest that attacks the secret proxy', { skip }, () => {
  test('requests that Node refuses to write do not crash the proxy', async () => {
    await using sandbox = await open()
    assert.equal(await run(sandbox, 'print(status(say(ask())))'), '200')
    await withOneProxy(async () => {
      const statuses = await run(
        sandbox,
        `
upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
for path in ('/\\xff', '/\\x01', '/ /'): print(status(say(ask(path))), status(say(ask(path, upgrade, ends=False))))
print(status(say(ask(headers=[*upgrade, 'X: \\x01\\xff'], ends=False))))
with dial() as one: one.sendall(ask().encode()[:20])
print(status(say(ask())))`,
      )
      assert.equal(statuses, '400 400\n400 400\n400 400\n400\n200')
    })
  })

  test('unanswered requests are accepted up to a bound', async () => {
    await using sandbox = await open()
    await run(sandbox, 'print(status(say(ask())))')
    api.answer = () => undefined
    await withOneProxy(async () => {
      const ended = await run(
        sandbox,
        `
one = dial()
one.settimeout(20)
try:
    for _ in range(40): one.sendall(ask(ends=False).encode() * 50)
    print(one.recv(1) == b'')
except OSError as error: print(not isinstance(error, TimeoutError))`,
      )
      assert.equal(ended, 'True')
    })
    api.answer = undefined
    assert.equal(await run(sandbox, 'print(status(say(ask())))'), '200')
  })

  test('expanded placeholders in JSON do not exceed the size limit of a body', async () => {
    await using sandbox = await open({ in: ['json'] })
    await run(sandbox, 'print(status(say(ask())))')
    await withOneProxy(async () => {
      const statuses = await run(
        sandbox,
        `
for count in (26000, 100):
    body = '"' + key * count + '"'
    print(status(say(ask(method='POST', headers=['Content-Type: application/json', f'Content-Length: {len(body)}'], body=body))))`,
      )
      assert.equal(statuses, '413\n200')
      assert.equal(api.last.body.length, 100 * value.length + 2)
    })
  })

  test('its debugger cannot be started, and no core file is left of it', async () => {
    await using sandbox = await open()
    await run(sandbox, 'print(status(say(ask())))')
    await withOneProxy(async () => {
      const [pid = ''] = findProxies()
      assert.match(readFileSync(`/proc/${pid}/limits`, 'latin1'), /^Max core file size +0 +0 /m)
      process.kill(Number(pid), 'SIGUSR1')
      assert.equal(await run(sandbox, 'print(status(say(ask())))'), '200')
      // Node's inspector would have its own thread.
      const names = readdirSync(`/proc/${pid}/task`).map((task) =>
        readFileSync(`/proc/${pid}/task/${task}/comm`, 'latin1').trim(),
      )
      assert.ok(!names.some((name) => /inspector/i.test(name)), names.join(', '))
      await assert.rejects(fetch('http://127.0.0.1:9229/json'))
    })
  })

  for (const [title, executable] of [
    ['is not there', '/nowhere/node'],
    ['cannot be named', '/nowhere/node\0'],
  ] as const)
    test(`if its program ${title}, guests are refused with the reason, and nothing is left behind`, async () => {
      await using sandbox = await open()
      await sandbox.exec('true')
      const before = readdirSync('/proc/self/fd').length
      const { execPath } = process
      process.execPath = executable
      try {
        const { receipt } = await sandbox.exec('curl -sS https://localhost:' + api.port)
        const refused = receipt.network?.refused.map(({ reason }) => reason)
        assert.deepEqual(refused, ['no-secret-proxy'])
      } finally {
        process.execPath = execPath
      }
      assert.ok(readdirSync('/proc/self/fd').length <= before)
      assert.equal(await run(sandbox, 'print(status(say(ask())))'), '200')
    })
})
