/** Objects that are not what they look like: each is refused like any other wrong request. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { endSnippetThreads, runSnippet } from '../../../src/adapters/snippet-tool/index.ts'
import { createLazaret, LazaretError } from '../../../src/index.ts'
import { useSandbox } from '../../sandbox/use-sandbox.ts'

const { lazaret, sandbox } = await useSandbox()
const session = await sandbox.createSession()
const waiting = await sandbox.startProcess('sleep 1000')
const router = new MessageRouter()

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
  'exec of a session': async (given) => session.exec('true', given),
  'exec with a terminal': async (given) => sandbox.exec('true', { tty: given }),
  resize: async (given) => waiting.resize(given),
  waitForLog: async (given) => waiting.waitForLog(given),
  writeFile: async (given) => sandbox.writeFile('a', '', given),
  readFile: async (given) => sandbox.readFile('a', given),
  listFiles: async (given) => sandbox.listFiles('.', given),
  stat: async (given) => sandbox.stat('.', given),
  mkdir: async (given) => sandbox.mkdir('d', given),
  deleteFile: async (given) => sandbox.deleteFile('a', given),
  uploadTar: async (given) => sandbox.uploadTar(given),
  'uploadTar with options': async (given) => sandbox.uploadTar(new Uint8Array(1024), given),
  downloadTar: async (given) => sandbox.downloadTar(given),
  runSnippet: async (given) => runSnippet({ source: '1' }, given),
  'runSnippet with a signal': async (given) => runSnippet({ source: '1' }, { signal: given }),
  'an actor': async (given) => new SubprocessCodeExecutionActor(router, 5000, given),
  'an actor with a timeout': async (given) => new SubprocessCodeExecutionActor(router, given),
  'an actor with ceilings': async (given) =>
    new SubprocessCodeExecutionActor(router, 5000, { ceilings: given }),
  'an actor with a Lazaret': async (given) =>
    new SubprocessCodeExecutionActor(router, 5000, { lazaret: given }),
  'register an actor': async (given) => router.register('one', given),
  'ask an actor': async (given) => router.ask(given),
  'send to an actor': async (given) => router.send(given),
}
/** An object whose property may be read only once, for options of createLazaret() and fields of a request. */
function onlyOnce(name: string): object {
  let reads = 0
  return {
    get [name]() {
      return reads++ === 0 ? undefined : fail()
    },
  }
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
  'a clock without its methods': async () => createLazaret({ clock: {} as never }),
  'an option that can be read once': async () => createLazaret(onlyOnce('onEvent')),
  'an option of a file operation that nobody knows': async () =>
    sandbox.readFile('a', { encodng: 'bytes' } as never),
  'an archive from a stream that somebody else reads': async () => {
    const stream = new ReadableStream<Uint8Array>()
    stream.getReader()
    await sandbox.uploadTar(stream)
  },
  'an archive without an iterator': async () =>
    sandbox.uploadTar({ [Symbol.asyncIterator]: () => 5 as never }),
  'an archive whose pieces only look like bytes': async () =>
    sandbox.uploadTar(
      (async function* () {
        yield noBytes() as Uint8Array
      })(),
    ),
  'stdin of a command that only looks like bytes': async () =>
    sandbox.exec('true', { stdin: noBytes() as never }),
}
for (const [name, attempt] of Object.entries(attempts))
  test(`${name} is refused`, async () => {
    await assert.rejects(attempt, isRefusal)
  })

test('bytes that lie about their size are measured by their real size', async () => {
  const limits = { inputBytes: 1000 }
  await assert.rejects(run({ stdin: new Liar(2000), limits }), { code: 'INPUT_TOO_LARGE' })
  await assert.rejects(run({ files: { a: new Liar(2000) }, limits }), { code: 'INPUT_TOO_LARGE' })
})

test('an input that is a proxy, or has a false size, breaks no run', async () => {
  for (const language of ['shell', 'python', 'javascript'] as const)
    for (const input of [revoked(), trap(), new Liar(2000), detached()])
      assert.equal((await lazaret.run({ language, code: '', input })).outcome.kind, 'completed')
})

test('pieces of an archive with a false size are read with their real size', async () => {
  async function* pieces() {
    yield new Liar(1024)
  }
  assert.deepEqual(await sandbox.uploadTar(pieces()), { entries: 0, bytes: 0 })
})

test('an actor whose answer is not a promise can still take a message', () => {
  router.register('plain', { receive: () => undefined as never })
  router.send({ to: 'plain', type: 'execute', payload: { code: '1' } })
})

after(() => endSnippetThreads())
