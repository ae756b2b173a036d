/** The errors that run() throws in place of an outcome, through the public API. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import type { RunRequest } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { WithoutLayers } from '../../support/hosts/without-layer.ts'
import { listDescendants } from '../../support/machine/processes.ts'

const hello = { language: 'shell', code: 'echo hello' } as const

test('a bad request is refused before anything is started', async () => {
  await using lazaret = createLazaret()
  for (const bad of [
    { ...hello, code: 'a\0b' },
    { ...hello, files: { '../x': '' } },
    { ...hello, env: { 'A B': '' } },
  ]) {
    const running = lazaret.run(bad)
    assert.deepEqual(listDescendants(process.pid), [])
    await assert.rejects(running, {
      code: 'INVALID_REQUEST',
      kind: 'refusal',
      retryable: false,
      exitCode: 64,
      httpStatus: 400,
      statusCode: 400,
    })
  }
})

test('a runtime that does not run the language is refused, and says what it runs', async () => {
  await using lazaret = createLazaret()
  await assert.rejects(lazaret.run({ ...hello, runtime: 'node' }), {
    code: 'INVALID_REQUEST',
    message: /The runtime node does not run shell; it runs javascript and typescript/,
  })
})

test('a request that is too large for its limits or for a cell is refused, and is never a fault', async () => {
  await using lazaret = createLazaret()
  const disk = { diskBytes: 64 * 1024 }
  const requests: readonly Partial<RunRequest>[] = [
    { stdin: 'x'.repeat(11), limits: { inputBytes: 10 } },
    { code: '#'.repeat(11), limits: { codeBytes: 10 } },
    { input: 'x'.repeat(11), limits: { inputBytes: 10 } },
    { input: { a: ['x'.repeat(11)] }, limits: { inputBytes: 10 } },
    { input: 1, stdin: 'x'.repeat(10), limits: { inputBytes: 10 } },
    { args: Array.from({ length: 20 }, () => 'x'.repeat(100_000)) },
    { files: { big: new Uint8Array(65 * 1024) }, limits: disk },
    { files: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`f${index}`, 'x'])), limits: disk },
    { code: '#'.repeat(65 * 1024), limits: disk },
    { input: 'x'.repeat(61 * 1024), limits: disk },
  ]
  for (const request of requests) {
    await assert.rejects(
      lazaret.run({ ...hello, ...request }),
      { code: 'INPUT_TOO_LARGE', kind: 'refusal' },
      JSON.stringify(request).slice(0, 60),
    )
  }
})

test('a request of exactly the limits runs', async () => {
  await using lazaret = createLazaret()
  const request = {
    ...hello,
    args: Array.from({ length: 9 }, () => 'x'.repeat(100_000)),
    env: Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`VARIABLE_${index}`, 'x'])),
    files: Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`folder/${index}`, 'x'])),
    limits: { diskBytes: 64 * 1024 },
  }
  const { outcome, stdout } = await lazaret.run(request)
  assert.deepEqual({ outcome, stdout }, { outcome: { kind: 'completed', exitCode: 0 }, stdout: 'hello\n' })
})

test('a missing configured toolchain is not replaced by another', async () => {
  const missing = '/no/such/toolchain'
  await using lazaret = createLazaret({ toolchains: { node: missing, bun: missing, python: missing } })
  for (const [language, runtime] of [
    ['javascript', 'node'],
    ['typescript', 'bun'],
    ['python', 'python'],
  ] as const) {
    const refused = {
      code: 'RUNTIME_UNAVAILABLE',
      kind: 'refusal',
      message: new RegExp(`toolchains.${runtime}.*${missing}.*there is no such file`),
      hint: new RegExp(`toolchains.${runtime}`),
    }
    await assert.rejects(lazaret.run({ code: '1', language, runtime }), refused, runtime)
  }
  assert.equal((await lazaret.run(hello)).stdout, 'hello\n')
})

test('below the required protection nothing runs', async () => {
  const code = `
    import { createLazaret } from ${JSON.stringify(new URL('../../../src/index.ts', import.meta.url).href)}
    await using lazaret = createLazaret({ minimumProtection: 'strong' })
    const error = await lazaret.run(${JSON.stringify(hello)}).catch((error) => error)
    console.log(JSON.stringify({ code: error.code, message: error.message }))`
  await using here = createLazaret({ minimumProtection: 'restricted' })
  const { level } = await here.probe()
  using without = new WithoutLayers()
  // The strongest level needs cgroups.
  const lacking = level === 'strong' ? (['cgroups'] as const) : []
  const { stdout, stderr } = await without.run(lacking, [
    process.execPath,
    ...['--input-type=module', '-e', code],
  ])
  assert.equal(stderr, '')
  const { code: errorCode, message } = JSON.parse(stdout) as { code: string; message: string }
  assert.equal(errorCode, 'JAIL_UNAVAILABLE')
  // Only root's first cell is tried: without ids of their own, guests are below `strong` with any wall.
  const reached = process.geteuid?.() === 0 && level !== 'strong' ? level : 'standard'
  assert.match(message, new RegExp(`reaches level ${reached} at most; strong is required`))
})

test('nested readable folders are refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-readable-'))
  try {
    mkdirSync(join(folder, 'inner'))
    const readable = [
      { host: folder, guest: '/data' },
      { host: folder, guest: '/data/inner' },
    ]
    // Refused somewhere between the options and the first mount; no folder is created on the host.
    await assert.rejects(
      async () => {
        await using lazaret = createLazaret({ readable })
        return await lazaret.run(hello)
      },
      { code: 'INVALID_REQUEST', message: /\/data\/inner/ },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('an error in the caller’s onOutput is thrown to the caller, and ends the run', async () => {
  const mine = new Error('mine')
  {
    await using lazaret = createLazaret()
    const running = lazaret.run({
      ...hello,
      code: 'echo hello; exec sleep infinity',
      onOutput() {
        throw mine
      },
    })
    await assert.rejects(running, mine)
  }
  assert.deepEqual(listDescendants(process.pid), [])
})

test('a disposed Lazaret refuses runs, and may be disposed twice', async () => {
  const lazaret = createLazaret()
  await lazaret.run(hello)
  await lazaret[Symbol.asyncDispose]()
  await lazaret[Symbol.asyncDispose]()
  await assert.rejects(lazaret.run(hello), { code: 'DISPOSED' })
})

test('disposal cancels current runs, and waits until nothing of them is left', async () => {
  const lazaret = createLazaret()
  let started = 0
  const all = Promise.withResolvers<void>()
  const request: RunRequest = {
    ...hello,
    code: 'echo ready; exec sleep infinity',
    onOutput: () => (++started === 5 ? all.resolve() : undefined),
  }
  const running = Promise.all(Array.from({ length: 5 }, () => lazaret.run(request)))
  await Promise.race([all.promise, running])
  await lazaret[Symbol.asyncDispose]()
  assert.deepEqual(listDescendants(process.pid), [])
  assert.deepEqual(
    (await running).map(({ outcome, stdout }) => [outcome.kind, stdout]),
    Array.from({ length: 5 }, () => ['cancelled', 'ready\n']),
  )
})

test('a run that is refused because there are no ids leaves nothing behind and takes no time', async (context) => {
  if (process.geteuid?.() !== 0) return context.skip('needs the own-uid layer, which only root has')
  // One block with room for 128 cells, which the first Lazaret holds; the second one tries to claim it, too.
  const uidRange = { first: 3_900_000_000 + (process.pid % 1000) * 256, count: 256 }
  await using first = createLazaret({ uidRange })
  await using second = createLazaret({ uidRange })
  assert.equal((await first.run(hello)).stdout, 'hello\n')
  await assert.rejects(second.run(hello), { code: 'JAIL_UNAVAILABLE', hint: /uidRange/ })
  await eventually(() => (listDescendants(process.pid).length === 0 ? undefined : 'a launcher is left'), 900)
})
