/**
 * Whoever reads a message on a channel also closes a socket that came with it. If the socket lingers, and its peer does not
 * read, the close may block for as long as the guest chooses, and with it the host's event loop, or pid 1.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ChannelCell } from '../../support/channel-cell.ts'
import { eventually } from '../../support/eventually.ts'
import { startCalmWatch } from '../../support/machine/processor-pressure.ts'

const lingerMs = 5000
const patienceMs = 2500
/** For a busy machine. */
const startMs = 60_000

const sendLingering = `
import struct
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen()
lingers = socket.create_connection(listener.getsockname())
unread, _ = listener.accept()
lingers.setblocking(False)
try:
    while True: lingers.send(bytes(65536))
except BlockingIOError: pass
lingers.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, ${lingerMs / 1000}))
# While the host reads this, the guest can close its own descriptor before the message is read.
channel.sendall(bytes(120000))
socket.send_fds(channel, [b'x'], [lingers.fileno()])
os.close(lingers.detach())
print('sent', flush=True)
take(1)
print('heard', flush=True)
take(1)`

const ownerOf = { cell: 'a cell', own: 'a process' } as const

for (const kind of ['cell', 'own'] as const) {
  test(`a socket that lingers, sent over the channel of ${ownerOf[kind]}, does not block`, async () => {
    await using cell = await ChannelCell.open({}, true)
    const guest = cell.spawn(sendLingering, { channel: kind })
    await guest.spawned
    await eventually(() => (guest.output === 'sent\n' ? undefined : guest.output), startMs)
    const watch = startCalmWatch()
    guest.channel.resume()
    // Everything sent before has been read when this arrives.
    setImmediate(() => guest.channel.write('.'))
    await eventually(() => (guest.output.endsWith('heard\n') ? undefined : guest.output), startMs)
    const tookMs = watch()
    assert.ok(tookMs < patienceMs, `the next word took ${Math.round(tookMs)} ms`)
    guest.channel.end('.')
    await guest.exited
  })
}
