/**
 * Names that services of the host use: abstract sockets, extended attributes, interfaces. In a cell with
 * namespaces a guest has its own; without them it must not get any.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'

import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** Whether a host process listens at an abstract name, or has taken it. */
function isFree(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(`\0${name}`)
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
    socket.once('connect', () => resolve(!socket.destroy()))
  })
}

test('a guest cannot take an abstract name of the host, with a socket or with half of a pair', async () => {
  const name = `lazaret-claim-${process.pid}`
  const code = `
import socket
taken = []
for make in (lambda: socket.socket(socket.AF_UNIX), lambda: socket.socketpair()[0], lambda: socket.socketpair(type=socket.SOCK_SEQPACKET)[0]):
    try:
        s = make()
        s.bind('\\0' + input_data + str(len(taken)))
        s.listen()
        taken.append('bound')
    except OSError as error:
        taken.append(error.strerror)
print(taken, flush=True)
input()
taken`
  const found = Promise.withResolvers<void>()
  const controller = new AbortController()
  const run = guests.run({
    ...python,
    code: code.replace('input()', 'import time; time.sleep(60)'),
    input: name,
    signal: controller.signal,
    onOutput: () => found.resolve(),
  })
  await Promise.race([found.promise, run])
  for (let index = 0; index < 3; index++) assert.ok(await isFree(`${name}${index}`))
  controller.abort()
  const { stdout } = await run
  if (guests.level === 'restricted') assert.doesNotMatch(stdout, /bound/)
})

test('a guest can read neither attributes nor interfaces of the host', async () => {
  const code = `
import errno, fcntl, os, socket
answers = []
def ask(what):
    try: what(); answers.append('answered')
    except OSError as error: answers.append(errno.errorcode[error.errno])
ask(lambda: os.listxattr('/usr'))
ask(lambda: os.getxattr('/usr', 'user.none'))
pair = socket.socketpair()
ask(lambda: fcntl.ioctl(pair[0], 0x8912, bytes(16)))
answers`
  const { value, stderr } = await guests.run({ ...python, code })
  assert.ok(Array.isArray(value), stderr)
  if (guests.level === 'restricted') assert.deepEqual(value, ['ENOSYS', 'ENOSYS', 'EPERM'])
  else assert.equal(value.length, 3)
})
