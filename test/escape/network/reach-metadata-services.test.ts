/** Metadata services of clouds, which answer with credentials: by their addresses and names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const addresses = [
  '169.254.169.254', // most clouds
  '169.254.170.2', // containers at Amazon
  '169.254.170.23',
  '169.254.0.23', // Tencent
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  '168.63.129.16', // Azure's wire server
  'fd00:ec2::254',
  'fd20:ce::254',
  '::ffff:169.254.169.254',
]
const spellings = [
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  'metadata',
  'metadata.google.internal',
  'instance-data',
]
const hosts = [...addresses, ...spellings]

const code = `
import json, socket, urllib.request
reached = []
for host in input_data:
    for port in (80, 443, 32526):
        try: socket.create_connection((host, port), 0.2); reached.append([host, port])
        except OSError: pass
    for kind, level, name in ((socket.AF_INET, socket.SOL_SOCKET, 25), ):
        try: s = socket.socket(kind)
        except OSError: continue
        s.settimeout(0.2)
        try: s.setsockopt(level, name, b'eth0\\0') # SO_BINDTODEVICE
        except OSError: pass
        try: s.connect((host, 80)); reached.append([host, 'bound'])
        except OSError: pass
    try: urllib.request.urlopen(urllib.request.Request('http://[%s]/latest/meta-data/' % host if host.count(':') > 1 else 'http://%s/latest/meta-data/' % host, headers={'Metadata-Flavor': 'Google'}), timeout=0.2); reached.append([host, 'http'])
    except (OSError, ValueError): pass
print(json.dumps(reached))`

test('python: no metadata service is reached, whatever its address or spelling', async () => {
  const { outcome, stdout, stderr } = await guests.run({
    ...python,
    code,
    input: hosts,
    limits: { wallMs: 60_000 },
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.equal(stdout, '[]\n')
})

const javascript = `
  const reached = []
  for (const host of input) {
    const name = host.split(':').length > 2 ? '[' + host + ']' : host
    await fetch('http://' + name + '/latest/meta-data/', { signal: AbortSignal.timeout(1000), headers: { Metadata: 'true' } }).then(() => reached.push(host), () => {})
  }
  console.log(JSON.stringify(reached))
  process.exit(0)`

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: no metadata service is reached`, async () => {
    const { stdout, stderr } = await guests.run({
      ...runtime,
      code: javascript,
      input: hosts,
      limits: { wallMs: 60_000 },
    })
    assert.equal(stdout, '[]\n', stderr)
  })
}

test('shell: no metadata service is reached', async () => {
  const script = `while read -r host; do (exec 3<>/dev/tcp/$host/80) 2>/dev/null && echo "$host"; done < hosts; exit 0`
  const { stdout } = await guests.run({
    ...shell,
    code: script,
    files: { hosts: `${hosts.join('\n')}\n` },
    limits: { wallMs: 60_000 },
  })
  assert.equal(stdout, '')
})
