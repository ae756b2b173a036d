/**
 * A process's own channel: a socket of pid 1, relayed in both directions. A process that does not read blocks no other.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'

import { unwatched } from '../../../src/jail/limits/limit-rows.ts'
import { ChannelCell, readAll, readSome } from '../../support/channel-cell.ts'
import type { ChannelGuest } from '../../support/channel-cell.ts'
import { eventually } from '../../support/eventually.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'

const MiB = 1024 * 1024
const patienceMs = 10_000

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const until = (look: () => boolean, why: string) => eventually(() => (look() ? undefined : why), patienceMs)

describe('a process with a channel of its own', () => {
  let cell: ChannelCell
  before(async () => {
    cell = await ChannelCell.open()
  })
  after(() => cell[Symbol.asyncDispose]())

  function residentBytes(): number {
    const status = readFileSync(`/proc/${cell.built.cell.pid1}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
  }

  it('gets ten megabytes back unchanged, next to another process', async () => {
    const echo = `
while piece := channel.recv(65536): channel.sendall(piece)
print('over')`
    const talk = async () => {
      const guest = cell.spawn(echo)
      const sent = randomBytes(10 * MiB)
      const coming = readAll(guest.channel)
      guest.channel.end(sent)
      assert.equal(digest(await coming), digest(sent))
      assert.deepEqual((await guest.exited).end, { by: 'exit', exitCode: 0 })
      assert.equal(guest.output, 'over\n')
    }
    await Promise.all([talk(), talk()])
  })

  it('blocks while the host does not read, but its output continues', async () => {
    const atFirst = residentBytes()
    await keepHeldFlat(async () => {
      const guest = cell.spawn(`
import threading
sent = [0]
def flood():
    for _ in range(512):
        channel.sendall(bytes(65536))
        sent[0] += 65536
    channel.shutdown(socket.SHUT_WR)
threading.Thread(target=flood).start()
seen = -1
while seen != sent[0]:
    seen = sent[0]
    time.sleep(0.2)
print('waits', seen, flush=True)
for _ in range(8): os.write(1, b'x' * 65536)
print('printed', flush=True)`)
      await until(() => guest.output.endsWith('printed\n'), 'it did not print')
      const waitedAt = Number(/waits (\d+)/.exec(guest.output)?.[1])
      assert.ok(waitedAt > 0 && waitedAt < 4 * MiB, `${waitedAt} bytes went out unread`)
      assert.ok(residentBytes() - atFirst < 4 * MiB, 'pid 1 has grown')
      let arrived = 0
      for await (const piece of guest.channel) arrived += (piece as Buffer).length
      assert.equal(arrived, 32 * MiB)
      await guest.exited
    })
  })

  it('may be blocked on its output, while the channel continues', async () => {
    const guest = cell.spawn(`
take(1)
os.write(1, b'unheard')
while piece := channel.recv(65536): channel.sendall(piece)`)
    await guest.spawned
    cell.built.cell.holdOutput(guest.id, true)
    guest.channel.write('.')
    for (let round = 0; round < 20; round++) {
      guest.channel.write('again')
      assert.equal((await readSome(guest.channel, 5)).toString(), 'again')
    }
    assert.equal(guest.output, '')
    cell.built.cell.holdOutput(guest.id, false)
    await until(() => guest.output === 'unheard', 'it is held still')
    guest.channel.end()
    await guest.exited
  })

  it('leaves unread bytes at the host, within the credit, and other channels continue', async () => {
    const atFirst = residentBytes()
    const deaf = cell.spawn(`print('here', flush=True); sys.stdin.read(); print(len(take(${4 * MiB})))`, {
      stdin: 'later',
    })
    await until(() => deaf.output === 'here\n', 'it did not start')
    let taken = 0
    for (let piece = 0; piece < 64; piece++) deaf.channel.write(Buffer.alloc(65536), () => (taken += 65536))
    const other = cell.spawn('channel.sendall(take(4))')
    other.channel.write('talk')
    assert.equal((await readAll(other.channel)).toString(), 'talk')
    assert.ok(taken < MiB, `${taken} bytes were taken`)
    assert.ok(residentBytes() - atFirst < 4 * MiB, 'pid 1 has grown')
    cell.built.cell.endStdin(deaf.id)
    await deaf.exited
    assert.equal(deaf.output, `here\n${4 * MiB}\n`)
  })

  it('may close its end, which the host notices, without other effects', async () => {
    const guest = cell.spawn(
      `
channel.sendall(b'last')
channel.close()
sys.stdin.read()`,
      { stdin: 'later' },
    )
    assert.equal((await readAll(guest.channel)).toString(), 'last')
    guest.channel.destroy()
    cell.built.cell.endStdin(guest.id)
    await guest.exited
    const other = cell.spawn('channel.close(); sys.stdin.read()', { stdin: 'later' })
    other.channel.resume()
    await once(other.channel, 'end')
    for (let piece = 0; piece < 64; piece++)
      await new Promise((taken) => other.channel.write(Buffer.alloc(65536), taken))
    cell.built.cell.endStdin(other.id)
    await other.exited
  })

  it('may end one direction, and read the other one to its end', async () => {
    const guest = cell.spawn(`
channel.sendall(b'question')
channel.shutdown(socket.SHUT_WR)
print(take(100).decode())`)
    assert.equal((await readAll(keepOpen(guest))).toString(), 'question')
    guest.channel.end('answer')
    await guest.exited
    assert.equal(guest.output, 'answer\n')
  })

  it('is read to its last byte when it dies with bytes in flight', async () => {
    for (const last of ['os._exit(3)', 'os.kill(os.getpid(), 9)']) {
      const guest = cell.spawn(`
channel.setblocking(False)
count = 0
try:
    while True: count += channel.send(b'y' * 10000)
except BlockingIOError: pass
os.write(1, str(count).encode())
${last}`)
      await guest.exited
      const arrived = await readAll(guest.channel)
      assert.equal(arrived.length, Number(guest.output))
      assert.ok(guest.channel.destroyed)
    }
  })

  it('gets end of file when the host ends its side, and a connection error when that is closed', async () => {
    const guest = cell.spawn(`
print(take(100).decode(), flush=True)
try:
    while True: channel.sendall(bytes(1000))
except ConnectionError: print('broken')`)
    guest.channel.end('to the end')
    await until(() => guest.output === 'to the end\n', 'it has not read to the end')
    guest.channel.destroy()
    await guest.exited
    assert.equal(guest.output, 'to the end\nbroken\n')
  })

  it('ends even if a descendant holds the channel open', async () => {
    const guest = cell.spawn(`
channel.sendall(b'from the parent')
if os.fork() == 0:
    os.closerange(0, 3)
    time.sleep(60)
    os._exit(0)
os._exit(0)`)
    assert.deepEqual((await guest.exited).end, { by: 'exit', exitCode: 0 })
    assert.equal((await readAll(guest.channel)).toString(), 'from the parent')
  })

  it('cannot keep pid 1 busy with descriptors and out-of-band data', async () => {
    const guest = cell.spawn(
      `
channel.setblocking(False)
def attempt(what):
    try: what()
    except OSError: pass
attempt(lambda: channel.send(b'!', socket.MSG_OOB))
attempt(lambda: socket.send_fds(channel, [b'f'], [0, 1, 2]))
attempt(lambda: channel.shutdown(socket.SHUT_RD))
print('sent', flush=True)
sys.stdin.read()`,
      { stdin: 'later' },
    )
    await until(() => guest.output === 'sent\n', 'it has not sent')
    const ticksBefore = processorTicks(cell.built.cell.pid1)
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.ok(processorTicks(cell.built.cell.pid1) - ticksBefore < 10, 'pid 1 is busy')
    const other = cell.spawn('channel.sendall(take(4))')
    other.channel.write('talk')
    assert.equal((await readAll(other.channel)).toString(), 'talk')
    guest.channel.end('unread')
    cell.built.cell.endStdin(guest.id)
    await guest.exited
  })

  it('works next to 189 others', async () => {
    await using crowd = await ChannelCell.open({ processesMax: 500 })
    const shell = { file: '/bin/sh', argv: ['sh', '-c', 'head -c 4 <&3 >&3'] }
    const guests = Array.from({ length: 190 }, () => crowd.spawn('', shell))
    await Promise.all(guests.map(({ spawned }) => spawned))
    const answers = await Promise.all(
      guests.map(async ({ channel }, index) => {
        channel.write(String(1000 + index))
        return (await readAll(channel)).toString()
      }),
    )
    assert.deepEqual(
      answers,
      guests.map((_, index) => String(1000 + index)),
    )
    await Promise.all(guests.map(({ exited }) => exited))
  })

  it('is charged for bytes in channels as for those in any socket', async () => {
    // The watchdog's peak includes the brief cost of many starts, which may hide the cost of the channels.
    const least = 40 * 128 * 1024
    let more = 0
    for (let round = 0; round < 5 && more < least; round++) more = await chargedMore(least)
    assert.ok(more >= least, `${more} bytes more were seen`)
  })

  async function chargedMore(least: number): Promise<number> {
    await using stuffed = await ChannelCell.open({ processesMax: 500 })
    const watched = { ...unwatched, memoryBytes: 1024 * MiB }
    const start = (line: string) => stuffed.spawn('', { file: '/bin/sh', argv: ['sh', '-c', line], watched })
    const startMany = async (line: string) => {
      const guests = Array.from({ length: 40 }, () => start(line))
      await Promise.all(guests.map(({ spawned }) => spawned))
      return guests
    }
    const peakBytes = async () => (await start(':').exited).watchdogPeakBytes
    const idle = await startMany('head -c 4000000 <&3')
    const unstuffed = await peakBytes()
    for (const guest of idle) guest.channel.destroy()
    await Promise.all(idle.map(({ exited }) => exited))
    await startMany('head -c 4000000 /dev/zero >&3')
    // Sockets of a shared network are not counted.
    if (stuffed.built.plan.wall !== 'namespaces') return least
    let more = 0
    for (let looks = 0; looks < 100 && more < least; looks++) more = (await peakBytes()) - unstuffed
    return more
  }

  it('can have only one thing on descriptor 3: pid 1 ends a cell whose host requests two', async () => {
    await using another = await ChannelCell.open()
    const guest = another.spawn('', { hasState: true })
    await assert.rejects(guest.spawned, /parse a frame/)
    await another.built.cell.gone
    assert.ok(guest.channel.readableEnded || guest.channel.readable)
  })
})

/** A stream whose reader does not destroy it. */
function keepOpen({ channel }: ChannelGuest): AsyncIterable<Buffer> {
  return channel.iterator({ destroyOnReturn: false })
}

/** User and system time, in hundredths of a second. */
function processorTicks(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}
