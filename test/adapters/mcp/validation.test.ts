/** Validation for clients: as a tool, and in the results of executions. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { CheckedPrograms } from '../../../src/adapters/mcp/checked-programs.ts'
import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import type { LazaretEvent, Work } from '../../../src/index.ts'
import { openEngine } from '../../../src/engine/lazaret.ts'
import { clientKinds, connect } from './connect.ts'
import type { ClientKind } from './connect.ts'

const [asked, events]: [Work[], LazaretEvent[]] = [[], []]
let isClosed = false
const engine = openEngine({
  admit: (work) => {
    asked.push(work)
    return !isClosed
  },
  onEvent: (event) => events.push(event),
})
after(() => engine.lazaret[Symbol.asyncDispose]())

const risky = { language: 'python', code: 'import os\nos.system("true")' }
const finding = {
  rule: 'process',
  message: '`os.system` starts or signals processes.',
  line: 2,
  column: 1,
}

async function serve(mode: 'off' | 'warn' | 'enforce') {
  const programs = new CheckedPrograms(engine, mode)
  const { lazaret } = engine
  const host = { lazaret, programs, limits: defaultLimits, version: '0', warn: () => undefined }
  const service = await serveOverHttp({ host, port: 0 })
  return {
    url: service.url,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await programs[Symbol.asyncDispose]()
    },
  }
}

async function validates(kind: ClientKind, place: { url?: string }): Promise<void> {
  await using connection = await connect(kind, place)
  const { tools } = await connection.listTools()
  const tool = tools.find(({ name }) => name === 'validate_code')
  assert.deepEqual(tool?.['annotations'], {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  })
  const found = await connection.validate(risky)
  assert.deepEqual(found.structuredContent, { isSafe: false, riskLevel: 'high', findings: [finding] })
  assert.deepEqual(found.content, [{ type: 'text', text: `high\nline 2, process: ${finding.message}` }])
  const nothing = await connection.validate({ language: 'typescript', code: 'const x: number = 1' })
  assert.deepEqual(nothing.structuredContent, { isSafe: true, riskLevel: 'safe', findings: [] })
  assert.notEqual(nothing.isError, true)
  const long = await connection.validate({ language: 'javascript', code: ' '.repeat(50_001) })
  assert.equal(long.isError, true)
  assert.match(long.content[0]?.text ?? '', /^refused: CODE_REJECTED: .*50001 characters/)
  assert.equal((await connection.validate({ language: 'shell', code: ':' })).isError, true)
}

for (const kind of clientKinds) {
  test(`a ${kind} client over stdio validates programs`, () => validates(kind, {}))

  test(`a ${kind} client over HTTP validates programs`, async () => {
    await using service = await serve('warn')
    await validates(kind, service)
  })
}

test('findings are reported together with the result of the program', async () => {
  await using service = await serve('warn')
  await using connection = await connect('modern', service)
  const warned = await connection.execute(risky)
  assert.notEqual(warned.isError, true)
  assert.deepEqual(warned.structuredContent?.['validation'], { riskLevel: 'high', findings: [finding] })
  assert.match(warned.content[0]?.text ?? '', /\n\nWorth a look:\nline 2, process: /)
  const fine = await connection.execute({ language: 'python', code: '1' })
  assert.equal('validation' in (fine.structuredContent ?? {}), false)
  const shell = await connection.execute({ language: 'shell', code: 'eval true' })
  assert.equal('validation' in (shell.structuredContent ?? {}), false)
})

test('with enforce, code with high findings does not run, and the reason is reported', async () => {
  await using connection = await connect('modern', { args: ['--validation', 'enforce'] })
  const refused = await connection.execute(risky)
  assert.equal(refused.isError, true)
  const { outcome, error, validation } = refused.structuredContent as Record<string, unknown>
  assert.deepEqual([outcome, (error as { name: string }).name], ['refused', 'CODE_REJECTED'])
  assert.deepEqual(validation, { riskLevel: 'high', findings: [finding] })
  assert.notEqual((await connection.execute({ language: 'python', code: 'import socket' })).isError, true)
})

test('with mode off, code is executed without validation', async () => {
  await using service = await serve('off')
  await using connection = await connect('modern', service)
  const { structuredContent } = await connection.execute(risky)
  assert.equal('validation' in (structuredContent ?? {}), false)
})

test('a program is admitted once and before it is read, and a refusal of it is recorded', async () => {
  await using service = await serve('enforce')
  await using connection = await connect('modern', service)
  asked.length = events.length = 0
  await connection.execute({ language: 'python', code: '1' })
  await connection.execute(risky)
  await connection.validate(risky)
  assert.deepEqual(
    asked.map(({ kind, client }) => [kind, client]),
    [
      ['run', 'http'],
      ['run', 'http'],
      ['validation', 'http'],
    ],
  )
  const ended = events.flatMap((event) =>
    event.type === 'work-ended' ? [[event.kind, event.outcome, event.code]] : [],
  )
  assert.deepEqual(ended, [
    ['run', 'completed', undefined],
    ['run', 'refused', 'CODE_REJECTED'],
    ['validation', 'done', undefined],
  ])
  isClosed = true
  const refused = await connection.validate({ language: 'javascript', code: '1' })
  isClosed = false
  assert.equal(refused.isError, true)
  assert.match(refused.content[0]?.text ?? '', /^refused: NOT_ADMITTED/)
})

test('a client may have thirty validations and executions a minute', async () => {
  await using connection = await connect('modern')
  const code = { language: 'javascript', code: '1' }
  for (let count = 0; count < 15; count++) {
    assert.notEqual((await connection.validate(code)).isError, true)
    assert.notEqual((await connection.execute(code)).isError, true)
  }
  const { content } = await connection.validate(code)
  assert.match(content[0]?.text ?? '', /^refused: RATE_LIMITED: .* Try again in \d+ s\./)
})
