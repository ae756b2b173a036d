/** The end of `lazaret serve` while it works: a real process, many clients, and a signal. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { createLazaret } from '../../support/create-lazaret.ts'
import { eventually } from '../../support/eventually.ts'
import { spawnCli } from '../cli/spawn-cli.ts'
import { findGuest, sleepFor } from '../mcp/find-guest.ts'
import { eventsOf, open, send } from './serve-here.ts'

interface Served extends AsyncDisposable {
  readonly url: string
  readonly token: string
  readonly child: ReturnType<typeof spawnCli>
  readonly ended: Promise<number | null>
  /** Its standard error so far. */
  printed(): string
}

async function serve(): Promise<Served> {
  const child = spawnCli(['serve', '--port', '0', '--json', '--minimum', 'restricted'])
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (printed += piece))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { url, token } = JSON.parse(line) as { url: string; token: string }
  return {
    ...{ url, token, child, ended, printed: () => printed },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** The data of the first event of that name. Later events can still be read. */
async function untilEvent(
  events: ReturnType<typeof eventsOf>,
  name: string,
): Promise<Record<string, unknown>> {
  for (;;) {
    const { value } = await events.next()
    assert.ok(value !== undefined, `it ended before ${name}`)
    if (value.event === name) return value.data
  }
}

const asEvents = { accept: 'text/event-stream' }

test('SIGTERM under load loses no started run, and every other request is refused with the reason', async () => {
  await using server = await serve()
  const { url, token, child, ended } = server
  const begun = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const body = { language: 'shell', code: `echo begun; sleep 0.5; echo end-${index}` }
      const events = eventsOf(await open(url, '/v1/run', { token, body, headers: asEvents }))
      await untilEvent(events, 'output')
      return { events, index }
    }),
  )
  // This run, and with it the server, continues until its call is answered.
  const headers = { ...asEvents, 'x-request-id': 'held-run' }
  const body = { language: 'python', code: 'print(wait())', functions: ['wait'] }
  const held = eventsOf(await open(url, '/v1/run', { token, body, headers }))
  const called = await untilEvent(held, 'call')
  const late = await Promise.all(
    Array.from({ length: 24 }, async (_, index) => {
      if (index === 8) child.kill('SIGTERM')
      return send(url, '/v1/run', { token, body: { language: 'shell', code: `echo late-${index}` } })
    }),
  )
  for (const [index, { status, json, headers: replied }] of late.entries())
    if (status === 200) assert.equal(json['stdout'], `late-${index}\n`)
    else assert.deepEqual([status, json['code'], replied['retry-after']], [503, 'DISPOSED', '1'])
  for (const { events, index } of begun) {
    const kept: unknown[] = []
    for await (const { event, data } of events) if (event === 'result') kept.push(data['stdout'])
    assert.deepEqual(kept, [`begun\nend-${index}\n`])
  }
  const path = `/v1/run/held-run/calls/${String(called['call'])}`
  assert.equal((await send(url, path, { token, body: { value: 'in time' } })).status, 204)
  const ends: unknown[] = []
  for await (const { event: name, data } of held) if (name === 'result') ends.push(data['stdout'])
  assert.deepEqual(ends, ['in time\n'])
  assert.equal(await ended, 0)
})

const saysIt = (printed: string) => /removed cgroups that a killed process had left behind/.test(printed)

/** The cgroups of a host, by its pid. */
function groupsOf(pid: number): string {
  const words = ['/sys/fs/cgroup', '-maxdepth', '6', '-type', 'd', '-name', `lazaret-*-${pid}-*`]
  return spawnSync('find', words, { encoding: 'utf8' }).stdout
}

test('a server that is killed during runs leaves no guest, and the next start reports what it removed', async () => {
  await using lazaret = createLazaret({ minimumProtection: 'restricted' })
  const { receipt } = await lazaret.run({ language: 'shell', code: ':' })
  const hasCgroups = receipt.layers.includes('cgroup')
  const seconds = [82_021, 82_022, 82_023, 82_024]
  let pid = 0
  {
    await using killed = await serve()
    pid = killed.child.pid ?? 0
    for (const second of seconds) {
      const body = { language: 'shell', code: `exec ${sleepFor(second)}` }
      const { url, token } = killed
      send(url, '/v1/run', { token, body }).catch(() => undefined)
    }
    await eventually(
      () => (seconds.every((second) => findGuest(second) !== undefined) ? undefined : 'not all run'),
      20_000,
    )
  }
  await eventually(() => (seconds.some((second) => findGuest(second)) ? 'a guest lives' : undefined), 10_000)
  await using next = await serve()
  if (hasCgroups)
    await eventually(
      () => (saysIt(next.printed()) ? undefined : next.printed() || 'it printed nothing'),
      10_000,
    )
  await using quiet = await serve()
  const { url, token } = quiet
  assert.equal((await send(url, '/v1/run', { token, body: { language: 'shell', code: ':' } })).status, 200)
  assert.equal(groupsOf(pid), '')
  assert.ok(!saysIt(quiet.printed()))
})
