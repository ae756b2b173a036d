/** Real clients, of both eras of the protocol, over both transports. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from '../../../src/core/limits.ts'
import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { type ClientKind, clientKinds, connect, type Connection } from './connect.ts'
import { msUntilDead, startEndless } from './find-guest.ts'

const { lazaret } = await useLazaret()

let seconds = 70_000

for (const kind of clientKinds) {
  test(`a ${kind} client over stdio sees the tool, its results, progress and failures, and ends its runs`, () =>
    isServed(kind, {}))

  test(`a ${kind} client over HTTP sees the tool, its results, progress and failures, and ends its runs`, async () => {
    const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined }
    await using service = await serveOverHttp({ host, port: 0 })
    await isServed(kind, service)
  })
}

async function isServed(kind: ClientKind, place: { url?: string }): Promise<void> {
  await using connection = await connect(kind, place)
  await seesTool(connection, place)
  await getsResult(connection)
  await seesProgress(connection)
  await getsFailure(connection)
  await getsMistakes(connection)
  await cancels(connection)
  await goesAway(kind, place)
}

async function seesTool(connection: Connection, place: { url?: string }): Promise<void> {
  const { tools } = await connection.listTools()
  assert.deepEqual(
    tools.map(({ name }) => name),
    'url' in place ? ['execute_code'] : ['execute_code', 'validate_code'],
  )
  const [tool] = tools
  assert.ok(tool)
  const { properties, required } = tool['inputSchema'] as { properties: object; required: string[] }
  assert.deepEqual(Object.keys(properties), ['language', 'code', 'input', 'timeout_ms'])
  assert.deepEqual(required, ['language', 'code'])
  assert.deepEqual(Object.keys((tool['outputSchema'] as { properties: object }).properties), [
    'outcome',
    'stdout',
    'stderr',
    'value',
    'error',
    'durationMs',
    'truncated',
    'validation',
  ])
  assert.deepEqual(tool['annotations'], {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  })
}

async function getsResult(connection: Connection): Promise<void> {
  const result = await connection.execute({
    language: 'python',
    code: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n{"sum": sum(input_data)}',
    input: [1, 2, 3],
  })
  assert.notEqual(result.isError, true)
  const { durationMs, ...data } = result.structuredContent ?? {}
  assert.deepEqual(data, {
    outcome: 'completed',
    stdout: 'out\n',
    stderr: 'err\n',
    value: { sum: 6 },
    truncated: [],
  })
  assert.ok(Number(durationMs) > 0)
  assert.deepEqual(result.content, [
    { type: 'text', text: "stdout: out\n\nstderr: err\n\nvalue: {'sum': 6}" },
  ])
}

async function seesProgress(connection: Connection): Promise<void> {
  const received: { progress: number; message?: string | undefined }[] = []
  const isHeard = Promise.withResolvers<void>()
  const result = connection.execute(
    { language: 'shell', code: 'echo one; sleep 0.2; echo two; sleep 0.2; echo three >&2' },
    {
      onprogress: (progress) => {
        received.push(progress)
        isHeard.resolve()
      },
    },
  )
  await isHeard.promise
  assert.deepEqual(received, [{ progress: 4, message: 'one\n' }])
  const { structuredContent } = await result
  assert.equal(structuredContent?.['stdout'], 'one\ntwo\n')
  assert.deepEqual(received.slice(1), [{ progress: 8, message: 'two\n' }])
}

async function getsFailure(connection: Connection): Promise<void> {
  const failed = await connection.execute({ language: 'python', code: 'x = 1\nx / 0' })
  assert.equal(failed.isError, true)
  assert.equal(failed.structuredContent?.['outcome'], 'failed')
  assert.deepEqual(failed.structuredContent?.['error'], {
    name: 'ZeroDivisionError',
    message: 'division by zero',
    line: 2,
    column: 1,
  })
  assert.match(
    failed.content[0]?.text ?? '',
    /ZeroDivisionError: division by zero\n\nfailed: see stderr \(line 2\)$/,
  )

  const late = await connection.execute({ language: 'shell', code: 'echo a; sleep 60', timeout_ms: 300 })
  assert.equal(late.isError, true)
  assert.equal(late.structuredContent?.['outcome'], 'timed-out')
  assert.match(late.content[0]?.text ?? '', /^stdout: a\n\nThe program timed out after 300ms\. /)
}

async function getsMistakes(connection: Connection): Promise<void> {
  for (const args of [
    { language: 'cobol', code: '' },
    { language: 'python', code: 7 },
    { language: 'shell', code: ':', timeout_ms: '5' },
    { language: 'shell', code: ':', network: 'host' },
  ]) {
    const { isError, content } = await connection.execute(args)
    assert.equal(isError, true)
    assert.match(content[0]?.text ?? '', /language|code|timeout_ms|network/)
  }
  // It matches the schema, but the engine refuses it.
  const { isError, structuredContent } = await connection.execute({
    language: 'shell',
    code: `: ${'x'.repeat(2 * 1024 * 1024)}`,
  })
  assert.equal(isError, true)
  assert.equal(structuredContent?.['outcome'], 'refused')
  assert.equal((structuredContent?.['error'] as { name: string } | undefined)?.name, 'INPUT_TOO_LARGE')
}

async function cancels(connection: Connection): Promise<void> {
  const controller = new AbortController()
  const guest = await startEndless(connection, seconds++, controller.signal)
  controller.abort()
  assert.ok((await msUntilDead(guest, 5000)) < 5000)
  const { structuredContent } = await connection.execute({ language: 'shell', code: 'echo still here' })
  assert.equal(structuredContent?.['stdout'], 'still here\n')
}

async function goesAway(kind: ClientKind, place: { url?: string }): Promise<void> {
  const connection = await connect(kind, place)
  const guest = await startEndless(connection, seconds++)
  const [ms] = await Promise.all([msUntilDead(guest, 5000), connection[Symbol.asyncDispose]()])
  assert.ok(ms < 5000)
}
