/** ICMP: by raw sockets, by ping sockets, and by the host's own ping program. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `
import errno, json, socket, struct
answers = {}
for family, protocol in ((socket.AF_INET, 1), (socket.AF_INET6, 58)):
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
        for host in ('127.0.0.1', '8.8.8.8') if family == socket.AF_INET else ('::1', '2001:4860:4860::8888'):
            try:
                s = socket.socket(family, kind, protocol)
                s.settimeout(0.3)
                s.sendto(struct.pack('>BBHHH', 8 if protocol == 1 else 128, 0, 0xf7fe, 1, 0), (host, 0))
                s.recv(100)
                answers['%s %d' % (host, kind)] = 'ok'
            except OSError as error: answers['%s %d' % (host, kind)] = errno.errorcode.get(error.errno, 'timeout')
print(json.dumps(answers))`

test('python: no echo request leaves the cell', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const answers = JSON.parse(stdout) as Record<string, string>
  assert.deepEqual(
    Object.keys(answers).filter((name) => answers[name] === 'ok'),
    [],
  )
  for (const name of Object.keys(answers).filter((one) => one.endsWith(' 3')))
    assert.equal(answers[name], guests.level === 'restricted' ? 'EAFNOSUPPORT' : 'EPERM', name)
})

test('shell: the host’s own ping reaches nobody', async () => {
  const script =
    'for host in 127.0.0.1 8.8.8.8 ::1; do ping -c 1 -W 1 $host >/dev/null 2>&1 && echo $host; done; exit 0'
  assert.equal((await guests.run({ ...shell, code: script })).stdout, '')
})
