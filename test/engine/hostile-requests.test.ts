/** Objects that are not what they look like: each is refused as any other wrong request is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createLazaret, LazaretError } from '../../src/index.ts'
import { useSandbox } from '../sandbox/use-sandbox.ts'

const { lazaret, sandbox } = await useSandbox()

const fail = (): never => {
  throw new TypeError('a trap')
}
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const detached = (): Uint8Array => {
  const bytes = new Uint8Array(8)
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
  return bytes
}
const noBytes = (): unknown => Object.create(Uint8Array.prototype)
const noSignal = (): unknown => Object.create(AbortSignal.prototype)
const trap = (): object => new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail })
class Liar extends Uint8Array {
  override get byteLength(): never {
    return 1 as never
  }
}

const run = (more: object) => async () => lazaret.run({ language: 'shell', code: ':', ...more } as never)
const doors: Record<string, (given: never) => unknown> = {
  run: async (given) => lazaret.run(given),
  'run with files': async (given) => run({ files: given })(),
  'run with env': async (given) => run({ env: given })(),
  warmUp: async (given) => lazaret.warmUp(given),
  sandbox: async (given) => lazaret.sandbox(given),
  createLazaret: async (given) => createLazaret(given),
  exec: async (given) => sandbox.exec('true', given),
  setEnvVars: async (given) => sandbox.setEnvVars(given),
  createSession: async (given) => sandbox.createSession(given),
}
const isRefusal = (error: unknown) => error instanceof LazaretError && error.code === 'INVALID_REQUEST'

for (const [name, open] of Object.entries(doors))
  test(`${name} refuses proxies that were revoked or throw, and null`, async () => {
    for (const given of [revoked(), trap(), null])
      await assert.rejects(async () => open(given as never), isRefusal)
  })

const attempts: Record<string, () => Promise<unknown>> = {
  'a workspace with a NUL': async () => lazaret.sandbox({ workspace: '/a\0b' }),
  'a file of bytes that were transferred': run({ files: { a: detached() } }),
  'a file that only looks like bytes': run({ files: { a: noBytes() } }),
  'stdin that only looks like bytes': run({ stdin: noBytes() }),
  'a signal that only looks like one': run({ signal: noSignal() }),
  'a signal of a command that only looks like one': async () =>
    sandbox.exec('true', { signal: noSignal() as never }),
  'stdin of a command that only looks like bytes': async () =>
    sandbox.exec('true', { stdin: noBytes() as never }),
}
for (const [name, attempt] of Object.entries(attempts))
  test(`${name} is refused`, async () => {
    await assert.rejects(attempt, isRefusal)
  })

test('bytes that lie of their size are measured all the same', async () => {
  const limits = { inputBytes: 1000 }
  await assert.rejects(run({ stdin: new Liar(2000), limits }), { code: 'INPUT_TOO_LARGE' })
  await assert.rejects(run({ files: { a: new Liar(2000) }, limits }), { code: 'INPUT_TOO_LARGE' })
})
