/** Sockets and pipes that daemons of the host have in a folder that guests may read: agents, tmux, Docker. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { python, useLazaret } from '../support/use-lazaret.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-shown-'))
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true }))
const guests = await useLazaret({ readable: [{ host: folder, guest: '/data' }] })

const connecting = `
import errno, os, socket
folder = '/data' if os.path.isdir('/data') else input_data['folder']
answers = set()
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    for name in ('agent', 'link'):
        try:
            with socket.socket(socket.AF_UNIX, kind) as s:
                s.connect(folder + '/' + name)
                answers.add('connected')
        except OSError as error: answers.add(errno.errorcode[error.errno])
sorted(answers)`

test('a guest connects to no socket of the host in a folder that it may read', async () => {
  const heard: string[] = []
  const server = createServer((connection) => {
    heard.push('a connection')
    connection.on('error', () => undefined).destroy()
  })
  const path = join(folder, 'agent')
  server.listen(path)
  await once(server, 'listening')
  try {
    // Who may connect is no question of modes here.
    chmodSync(path, 0o777)
    execFileSync('ln', ['-s', 'agent', join(folder, 'link')])
    const { value, stderr } = await guests.run({ ...python, code: connecting, input: { folder } })
    assert.deepEqual(value, [guests.level === 'restricted' ? 'EAFNOSUPPORT' : 'ECONNREFUSED'], stderr)
    assert.deepEqual(heard, [])
  } finally {
    server.close()
    rmSync(join(folder, 'link'), { force: true })
  }
})

const writing = `
import errno, os
folder = '/data' if os.path.isdir('/data') else input_data['folder']
try:
    fd = os.open(folder + '/pipe', os.O_WRONLY | os.O_NONBLOCK)
    os.write(fd, b'from a guest')
    answer = 'written'
except OSError as error: answer = errno.errorcode[error.errno]
answer`

test('a guest writes to no pipe of the host in a folder that it may read', async () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', ['-m', '666', path])
  chmodSync(path, 0o666)
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { value, stderr } = await guests.run({ ...python, code: writing, input: { folder } })
    assert.ok(['ENXIO', 'EACCES'].includes(String(value)), `${String(value)} ${stderr}`)
    assert.equal(readSync(reader, Buffer.alloc(64)), 0)
  } finally {
    closeSync(reader)
    rmSync(path)
  }
})
