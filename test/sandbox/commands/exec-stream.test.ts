/** `execStream()`: output as it arrives, at the reader's pace. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { ExecEvent, ExecOptions } from '../../../src/index.ts'
import { untilShown } from '../../support/patient-run.ts'
import { processesWith } from '../../support/guests/processes-with.ts'
import { useSandbox } from '../use-sandbox.ts'

const MiB = 1024 * 1024
const { sandbox, hasSecure } = await useSandbox({ limits: { outputBytes: 32 * MiB } })
const spaces: readonly (readonly [name: string, options: ExecOptions])[] = [
  ['user space', {}],
  ...(hasSecure ? [['secure space', { env: { TOKEN: 't' } }] as const] : []),
]

async function collect(events: AsyncIterable<ExecEvent>): Promise<ExecEvent[]> {
  const all: ExecEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

function textOf(events: readonly ExecEvent[], stream: 'stdout' | 'stderr'): string {
  return events.map((event) => (event.type === stream ? event.text : '')).join('')
}

for (const [space, options] of spaces) {
  test(`a stream starts, prints and completes: ${space}`, async () => {
    const events = await collect(sandbox.execStream('echo out; echo err >&2; exit 3', options))
    assert.deepEqual(events[0], { type: 'start', command: 'echo out; echo err >&2; exit 3' })
    assert.equal(textOf(events, 'stdout'), 'out\n')
    assert.equal(textOf(events, 'stderr'), 'err\n')
    const last = events.at(-1)
    assert.ok(last?.type === 'complete')
    assert.equal(last.result.exitCode, 3)
    assert.equal(last.result.stdout, 'out\n')
    assert.equal(events.filter(({ type }) => type === 'complete' || type === 'error').length, 1)
  })

  test(`output arrives before the command has ended: ${space}`, async () => {
    const seen: string[] = []
    // It ends only after its first line has been read.
    const command =
      'echo first; until [ -e /workspace/seen ]; do sleep 0.01; done; rm /workspace/seen; echo last'
    for await (const event of sandbox.execStream(command, options)) {
      seen.push(event.type)
      if (event.type === 'stdout' && event.text === 'first\n') await sandbox.exec('touch /workspace/seen')
    }
    assert.deepEqual(seen, ['start', 'stdout', 'stdout', 'complete'])
  })

  test(`a flood of output arrives completely: ${space}`, async () => {
    const events = await collect(sandbox.execStream(`head -c ${20 * MiB} /dev/zero | tr '\\0' x`, options))
    assert.equal(textOf(events, 'stdout').length, 20 * MiB)
  })

  test(`characters are not split, and invalid bytes arrive as bytes: ${space}`, async () => {
    const command = String.raw`printf '\xe6\xbc'; sleep 0.02; printf '\xa2\xff'`
    const events = await collect(sandbox.execStream(command, options))
    assert.equal(textOf(events, 'stdout'), '漢\u{fffd}')
    const bytes = events.flatMap((event) => (event.type === 'stdout' ? [event.bytes] : []))
    assert.deepEqual(Buffer.concat(bytes), Buffer.from([0xe6, 0xbc, 0xa2, 0xff]))
  })

  test(`a reader that stops ends the command: ${space}`, async () => {
    const started = 'sleep 67.5 & echo begun; touch /workspace/alive; sleep 67.5; echo never'
    for await (const event of sandbox.execStream(started, options)) if (event.type === 'stdout') break
    const { stdout } = await sandbox.exec(
      `until [ -z "$(${processesWith('67[.]5')})" ]; do sleep 0.01; done; echo gone`,
    )
    assert.match(stdout, /gone\n$/)
  })

  test(`aborting a stream completes it as cancelled: ${space}`, async () => {
    const abort = new AbortController()
    const events: ExecEvent[] = []
    for await (const event of sandbox.execStream('echo; sleep 60', { ...options, signal: abort.signal })) {
      events.push(event)
      if (event.type === 'stdout') abort.abort()
    }
    const last = events.at(-1)
    assert.ok(last?.type === 'complete')
    assert.deepEqual(last.result.outcome, { kind: 'cancelled' })
  })

  test(`a timeout completes a stream: ${space}`, async () => {
    const { seen: events } = await untilShown(
      (timeout) => collect(sandbox.execStream('echo 1; sleep 60', { ...options, timeout })),
      ({ seen }) => textOf(seen, 'stdout') !== '',
    )
    const last = events.at(-1)
    assert.ok(last?.type === 'complete')
    assert.equal(last.result.outcome.kind, 'timed-out')
    assert.equal(textOf(events, 'stdout'), '1\n')
  })
}

test('a slow reader blocks its own command, and no other', async () => {
  const counted = 'i=0; while :; do i=$((i+1)); echo $i > /tmp/count; head -c 65536 /dev/zero; done'
  const stalled = sandbox.execStream(counted)[Symbol.asyncIterator]()
  await stalled.next()
  await stalled.next()
  const count = async () => (await sandbox.exec('cat /tmp/count')).stdout
  // It blocks when all buffers between it and this process are full.
  for (let before = ''; ;) {
    const now = await count()
    if (now === before && now !== '') break
    before = now
    await sandbox.exec('sleep 0.1')
  }
  const others = await Promise.all([
    collect(sandbox.execStream('head -c 1000000 /dev/zero | tr "\\0" x')),
    collect(sandbox.execStream('echo other')),
  ])
  assert.equal(textOf(others[0], 'stdout').length, 1_000_000)
  assert.equal(textOf(others[1], 'stdout'), 'other\n')
  const countBefore = Number(await count())
  for (let read = 0; read < 4 * MiB;) {
    const { value } = (await stalled.next()) as { readonly value: ExecEvent }
    if (value.type === 'stdout') read += value.bytes.length
  }
  assert.ok(Number(await count()) > countBefore)
  await stalled.return?.()
})

test('a command that is never read never begins', async () => {
  sandbox.execStream('touch /tmp/begun')
  const events = sandbox.execStream('touch /tmp/begun')[Symbol.asyncIterator]()
  await events.next()
  await events.return?.()
  assert.equal((await sandbox.exec('sleep 0.05; test -e /tmp/begun')).exitCode, 1)
})

test('several streams at once keep their output apart', async () => {
  const numbers = Array.from({ length: 8 }, (_, index) => index)
  const all = await Promise.all(
    numbers.map((number) => collect(sandbox.execStream(`for i in $(seq 200); do echo ${number}; done`))),
  )
  for (const [number, events] of all.entries())
    assert.equal(textOf(events, 'stdout'), `${number}\n`.repeat(200))
})

test('a stream has its session’s state, and does not change it', async () => {
  const session = await sandbox.createSession({ env: { A: '1' } })
  await session.exec('cd /tmp; f() { echo f; }')
  const events = await collect(
    sandbox.execStream('pwd; f; echo $A; cd /; export A=2', { sessionId: session.id }),
  )
  assert.equal(textOf(events, 'stdout'), '/tmp\nf\n1\n')
  assert.equal((await session.exec('pwd; echo $A')).stdout, '/tmp\n1\n')
})

test('the reason why a command cannot run is an error event', async () => {
  const events = await collect(sandbox.execStream('true', { sessionId: 'nobody' }))
  assert.deepEqual(
    events.map(({ type }) => type),
    ['start', 'error'],
  )
  const last = events.at(-1)
  assert.ok(last?.type === 'error' && last.error instanceof Error)
  assert.match(last.error.message, /There is no such session/)
})

test('a shell that is killed is a result', async () => {
  const last = (await collect(sandbox.execStream('kill -9 $$'))).at(-1)
  assert.ok(last?.type === 'complete')
  assert.deepEqual(last.result.outcome, { kind: 'killed', signal: 'SIGKILL' })
  assert.equal(last.result.exitCode, 137)
})
