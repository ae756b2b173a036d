/** On the host's network a guest can read the name of the host's nursery, but must not be able to use it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { NurseryProcess } from '../../../src/jail/launch/nursery-process.ts'
import { eventually } from '../../support/eventually.ts'
import { listDescendants } from '../../support/machine/processes.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

// A second nursery of this host, because only its creator knows its name for certain.
const nursery = new NurseryProcess()
const guests = await useLazaret({ access: { networks: ['none', 'host'] } })
guests.leaks.allow(nursery.pid as number)
after(() => nursery.end())
before(() => eventually(() => (nursery.isStanding ? undefined : 'it does not stand'), 5000))

/** Greets as a host would, for both sockets of a launcher, and prints the result. */
const code = `
import socket, struct
def attack(role):
    s = None
    try:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(5)
        s.connect('\\0' + input_data['name'])
        s.sendall(struct.pack('<IBIBB', 2, 10, 1, role, 0))
        return s, 'connected'
    except OSError as error:
        return s, error.strerror
sockets = [attack(role) for role in (1, 3)]
ends = []
for s, word in sockets:
    if word == 'connected':
        try:
            word = 'heard ' + repr(s.recv(100))
        except OSError as error:
            word = error.strerror
    ends.append(word)
try:
    if input_data['name'] in open('/proc/net/unix').read():
        ends.append('seen')
except OSError:
    pass
ends`

/** Without namespaces there are no Unix sockets at all: they could be connected to any of the host's. */
const noSuchFamily = 'Address family not supported by protocol'

test('the host’s nursery refuses or disconnects a guest on the host’s network', async () => {
  const { value, stderr } = await guests.run({
    ...python,
    code,
    input: { name: nursery.name },
    network: 'host',
    limits: { wallMs: ampleMs },
  })
  assert.ok(Array.isArray(value), stderr)
  if (guests.level === 'restricted') {
    assert.deepEqual(value, [noSuchFamily, noSuchFamily])
    return
  }
  const refused =
    guests.landlockAbi >= 6 ? /^Operation not permitted$/ : /^(heard b''|Broken pipe|Connection reset.*)$/
  for (const word of value.slice(0, 2)) assert.match(String(word), refused)
  assert.deepEqual(listDescendants(nursery.pid as number), [])
  assert.ok(nursery.isStanding)
})

test('with its own network a guest finds no such name', async () => {
  const { value } = await guests.run({ ...python, code, input: { name: nursery.name } })
  const refused = guests.level === 'restricted' ? noSuchFamily : 'Connection refused'
  assert.deepEqual(value, [refused, refused])
})
