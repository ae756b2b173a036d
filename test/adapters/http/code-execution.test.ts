/** `POST /v1/code-execution`: the service's JSON unchanged, under the policy of the server's engine. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectLazaret } from '../../../src/adapters/client/index.ts'
import { adaToken, send, serveHere } from './serve-here.ts'

const path = '/v1/code-execution'

test('a program gets `input` and gives `output`, with logs, warnings and the kinds of its errors', async () => {
  const works: unknown[] = []
  await using here = await serveHere({
    engine: { admit: ({ client, kind }) => void works.push([client, kind]) },
  })
  const lazaret = connectLazaret({ url: here.url, token: adaToken })
  const done = await lazaret.executeCode({
    code: "console.log('hi'); output = { sum: require('lodash').sum(input) }",
    language: 'typescript',
    inputData: [1, 2, 3],
    memoryLimitMB: 1,
  })
  assert.deepEqual(
    [done.success, done.output, done.logs?.length, done.warnings?.length],
    [true, { sum: 6 }, 1, 1],
  )
  assert.deepEqual(works, [['ada', 'run']])
  const late = await lazaret.executeCode({ code: 'for (;;);', language: 'javascript', timeoutSeconds: 0.2 })
  assert.deepEqual([late.success, late.errorType], [false, 'TIMEOUT'])
  const strange = await lazaret.executeCode({ code: '1', language: 'cobol' as 'javascript' })
  assert.match(strange.error ?? '', /Unsupported language/)
})

test('a token without the scope runs nothing, and options for callers in the same process are refused', async () => {
  await using here = await serveHere({ scopes: ['sandbox'] })
  const body = { code: 'output = 1', language: 'javascript' }
  assert.equal((await send(here.url, path, { body })).status, 403)
  await using open = await serveHere()
  for (const more of [{ client: 'bob' }, { bridge: {} }, { signal: {} }])
    assert.equal((await send(open.url, path, { body: { ...body, ...more } })).status, 400)
})
