/** The access log while nobody reads it: the event loop stays free, and what is missing is counted. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { checkoutRoot } from '../../../support/sources/checkout.ts'

const requests = 20_000
const program = `
import { AccessLog } from ${JSON.stringify(join(checkoutRoot, 'src/adapters/cli/output/access-log.ts'))}
import { StandardStream } from ${JSON.stringify(join(checkoutRoot, 'src/observe/standard-stream.ts'))}
const log = new AccessLog('json')
const request = { time: 'now', requestId: 'id', method: 'GET', path: '/' + 'x'.repeat(600), status: 200, ms: 1, bytes: 1, address: 'unix' }
for (let count = 0; count < ${requests}; count++) log.add(request)
process.stdin.once('data', async () => {
  await StandardStream.of('/dev/stdout').write('')
  log.add({ ...request, requestId: 'last' })
  process.stdin.destroy()
})
process.stderr.write('free')
`

test('lines for a reader that stalls are dropped and counted, and none is cut', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })
  const ended = once(child, 'close')
  // The loop turns although nobody has read a line yet.
  assert.equal(String((await once(child.stderr, 'data'))[0]), 'free')
  const all = text(child.stdout)
  child.stdin.write('now')
  const lines = (await all)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  await ended
  const dropped = lines.reduce((sum: number, line) => sum + (line.dropped ?? 0), 0)
  assert.ok(dropped > requests / 2)
  assert.equal(lines.at(-1).requestId, 'last')
  assert.equal(lines.length + dropped, requests + 1)
  assert.ok(lines.every(({ path }) => path.length <= 512))
})
