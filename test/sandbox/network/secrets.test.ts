/** Secrets at the edge of a sandbox's network: programs use a key without having it, and answers do not reveal it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, it } from 'node:test'

import type { EdgeSecrets } from '../../../src/index.ts'
import { createAuthority } from '../../../src/jail/edge/secrets/authority.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { SecretApi } from '../../support/hosts/secret-api.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { hasCommand } from '../../jail/seccomp/filtered-command.ts'

const leaks = new LeakCheck()
await leaks.takeBaseline()
const folder = mkdtempSync(join(tmpdir(), 'lazaret-secrets-'))
const operator = createAuthority()
writeFileSync(join(folder, 'operator.pem'), operator.certificate)
const before = process.env['NODE_EXTRA_CA_CERTS']
process.env['NODE_EXTRA_CA_CERTS'] = join(folder, 'operator.pem')
const api = await SecretApi.open(operator)
const host = `localhost:${api.port}`
const url = `https://${host}`
const lazaret = createLazaret({ access: { networks: ['none', 'policy', 'local-policy'] } })
const { level } = await lazaret.probe()
const obstacle =
  (level === 'restricted' && 'without namespaces a policy is refused') ||
  (!hasCommand('curl') && 'there is no curl')
const value = 'sk-Very+Secret/42'
const network = { allow: [host] }
const secrets: EdgeSecrets = { API_KEY: { value, hosts: [host] } }

beforeEach(() => (api.answer = undefined))
after(async () => {
  await lazaret[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
  if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS']
  else process.env['NODE_EXTRA_CA_CERTS'] = before
  rmSync(folder, { recursive: true, force: true })
  await leaks.checkDisposed()
})

const programs: Record<string, string> = {
  curl: `curl -sS -H "Authorization: Bearer $API_KEY" ${url}/`,
  'fetch in Node': `node -e 'fetch("${url}/", { headers: { authorization: "Bearer " + process.env.API_KEY } }).then((one) => one.text()).then(console.log)'`,
  'fetch in Bun': `bun -e 'console.log(await (await fetch("${url}/", { headers: { authorization: "Bearer " + process.env.API_KEY } })).text())'`,
  'urllib in Python': `python3 -c '
import os, urllib.request
key = {"Authorization": "Bearer " + os.environ["API_KEY"]}
print(urllib.request.urlopen(urllib.request.Request("${url}/", headers=key)).read().decode())'`,
}

describe('a secret at the edge', { skip: obstacle }, () => {
  it('is used by programs without their knowledge, and returned to none of them', async () => {
    await using sandbox = await lazaret.sandbox({ network, secrets })
    for (const [name, program] of Object.entries(programs)) {
      const { stdout, stderr, exitCode } = await sandbox.exec(program)
      assert.equal(exitCode, 0, `${name}: ${stderr}`)
      assert.equal(api.last.headers['authorization'], `Bearer ${value}`, name)
      assert.match(stdout, /"authorization":"Bearer \*{17}"/, name)
      assert.doesNotMatch(stdout + stderr, /very/i, name)
    }
  })

  it('refuses a request without TLS for a host with TLS, and forwards nothing', async () => {
    await using sandbox = await lazaret.sandbox({ network, secrets })
    const seenBefore = api.seen.length
    const body = '-d "$API_KEY" -X POST'
    for (const more of ['', body, '-H "Connection: Upgrade" -H "Upgrade: websocket"']) {
      const { stdout, stderr } = await sandbox.exec(`curl -sS -i ${more} http://${host}/`)
      assert.match(stdout, /^HTTP\/1\.1 400 /, stderr)
      if (!more.includes('Upgrade'))
        assert.match(stdout, new RegExp(`${host} is reached over TLS only: use https`))
    }
    assert.equal(api.seen.length, seenBefore)
  })

  it('is inserted into basic credentials, and masked in answers that echo them', async () => {
    await using sandbox = await lazaret.sandbox({ network, secrets })
    const { stdout } = await sandbox.exec(`curl -sSi -u "somebody:$API_KEY" ${url}/`)
    const credentials = Buffer.from(`somebody:${value}`).toString('base64')
    assert.equal(api.last.headers['authorization'], `Basic ${credentials}`)
    assert.match(stdout, /x-echo: Basic .*\*{20}/i)
    assert.ok(!stdout.includes(Buffer.from(value).toString('base64').slice(4, 12)), stdout)
  })

  it('is in no variable, file or memory of a guest that uses it', async () => {
    await using sandbox = await lazaret.sandbox({ network, secrets })
    const code = `
import os, ssl, subprocess, urllib.request
key = {'Authorization': 'Bearer ' + os.environ['API_KEY']}
answers = [urllib.request.urlopen(urllib.request.Request('${url}/', headers=key)).read() for _ in range(3)]
backwards, found, read = ${JSON.stringify(Buffer.from(value).toReversed().toString())}.encode(), [], 0
def look(where, data):
    global read
    read += len(data)
    if backwards in data[::-1]: found.append(where)
memory = open('/proc/self/mem', 'rb', 0)
for line in open('/proc/self/maps'):
    start, end = (int(one, 16) for one in line.split()[0].split('-'))
    if 'r' not in line.split()[1] or line.rstrip().endswith(('[vvar]', '[vsyscall]', '[vvar_vclock]')): continue
    try:
        memory.seek(start)
        look(line, memory.read(end - start))
    except (OSError, OverflowError): pass
for root in ('/workspace', '/tmp', os.environ['HOME'], '/run', '/opt/lazaret/certificates'):
    for folder, _, names in os.walk(root):
        for name in names: look(name, open(os.path.join(folder, name), 'rb').read())
for pid in filter(str.isdigit, os.listdir('/proc')):
    for name in ('environ', 'cmdline'):
        try: look(pid, open(f'/proc/{pid}/{name}', 'rb').read())
        except OSError: pass
print(len(answers), read > 1000000, found)`
    const { stdout, stderr } = await sandbox.exec('python3 -', { stdin: code })
    assert.equal(stdout, '3 True []\n', stderr)
    assert.equal(api.last.headers['authorization'], `Bearer ${value}`)
  })

  it('is masked in every piece of an answer, which is streamed', async () => {
    await using sandbox = await lazaret.sandbox({ network, secrets })
    api.answer = (_request, response) => {
      response.write(`a ${value.slice(0, 5)}`)
      setImmediate(() => {
        response.write(`${value.slice(5, 9)}`)
        setImmediate(() => response.end(`${value.slice(9).toUpperCase()} ${encodeURIComponent(value)} z`))
      })
    }
    const { stdout } = await sandbox.exec(`curl -sS ${url}/`)
    assert.equal(stdout, `a ${'*'.repeat(value.length)} ${'*'.repeat(encodeURIComponent(value).length)} z`)
    const first = Promise.withResolvers<void>()
    api.answer = (_request, response) => {
      response.write('data: first\n\n')
      void first.promise.then(() => response.end('data: last\n\n'))
    }
    const onOutput = ({ text }: { readonly text: string }) => text.includes('first') && first.resolve()
    const streamed = await sandbox.exec(`curl -sSN ${url}/`, { onOutput })
    assert.equal(streamed.stdout, 'data: first\n\ndata: last\n\n')
  })

  it('is inserted into a query or a JSON body only if its options say so', async () => {
    await using sandbox = await lazaret.sandbox({
      network,
      secrets: { ...secrets, ANYWHERE: { value: 'any"where+1', hosts: [host], in: ['query', 'json'] } },
    })
    const json = `-H 'Content-Type: application/json' -d "{\\"key\\": \\"$API_KEY\\", \\"other\\": \\"$ANYWHERE\\"}"`
    const { stdout } = await sandbox.exec(
      `echo $API_KEY $ANYWHERE; curl -sS ${json} -H "X-Other: $ANYWHERE" "${url}/$ANYWHERE?key=$API_KEY&other=$ANYWHERE"`,
    )
    const [, key = '', anywhere = ''] = /^(\S+) (\S+)\n/.exec(stdout) ?? []
    assert.equal(api.last.url, `/${anywhere}?key=${key}&other=any%22where%2B1`)
    assert.deepEqual(JSON.parse(api.last.body), { key, other: 'any"where+1' })
    assert.equal(api.last.headers['x-other'], anywhere)
    assert.doesNotMatch(stdout, /any.{1,3}where/)
  })

  it('works the same for secure commands and code contexts', async () => {
    await using sandbox = await lazaret.sandbox({ network, secrets })
    const curl = `curl -sS -H "X-Key: $API_KEY" ${url}/`
    const secure = await sandbox.exec(curl, { env: { OTHER: 'value' } })
    assert.equal(secure.isolation.space, 'secure')
    assert.equal(api.last.headers['x-key'], value)
    api.seen.length = 0
    const code = `
import os, urllib.request
urllib.request.urlopen(urllib.request.Request('${url}/', headers={'X-Key': os.environ['API_KEY']})).status`
    const { value: status } = await sandbox.runCode(code, { language: 'python' })
    assert.deepEqual([status, api.last.headers['x-key']], [200, value])
  })

  it('is in no audit log, event or receipt', async () => {
    const file = join(folder, 'audit.log')
    const reported: unknown[] = []
    await using audited = createLazaret({
      access: { networks: ['local-policy'] },
      audit: { file },
      admit: (work) => void reported.push(work),
      onEvent: (event) => reported.push(event),
    })
    await using sandbox = await audited.sandbox({ network, secrets })
    reported.push(await sandbox.exec(`curl -sS -H "X-Key: $API_KEY" ${url}/`))
    assert.equal(api.last.headers['x-key'], value)
    const all = `${JSON.stringify(reported)}${readFileSync(file, 'utf8')}`
    assert.ok(!all.includes(value))
    assert.match(all, /API_KEY/)
  })

  it('works for WebSockets, and is masked in received frames', async () => {
    await using sandbox = await lazaret.sandbox({ network, secrets })
    api.server.once('upgrade', (request: IncomingMessage, socket) => {
      const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
      const accept = createHash('sha1').update(key).digest('base64')
      const answer = Buffer.from(
        `${request.headers.authorization} ${request.headers['sec-websocket-extensions']}`,
      )
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      socket.write(Buffer.concat([Buffer.from([0x81, answer.length]), answer]))
      socket.once('data', () => socket.end(Buffer.from([0x88, 0])))
      api.seen.push({ method: 'GET', url: '/', headers: request.headers as Record<string, string>, body: '' })
    })
    const { stdout, stderr } = await sandbox.exec(`node -e '
      const one = new WebSocket("wss://${host}/", { headers: { authorization: process.env.API_KEY } })
      one.onmessage = ({ data }) => { console.log(data); one.send("bye") }
      one.onclose = () => process.exit()
      one.onerror = ({ message }) => console.error(message)'`)
    assert.equal(stdout, `${'*'.repeat(value.length)} undefined\n`, stderr)
    assert.equal(api.last.headers['authorization'], value)
  })

  it('is sent unencrypted only if its options allow that for the host', async () => {
    const { createServer } = await import('node:http')
    const received: (string | undefined)[] = []
    const plain = createServer((request, response) => {
      received.push(request.headers['x-key'] as string)
      response.end('done')
    }).listen(0, '127.0.0.1')
    const { port } = await new Promise<{ port: number }>((resolve) =>
      plain.once('listening', () => resolve(plain.address() as { port: number })),
    )
    const place = `localhost:${port}`
    const allowed = { network: { allow: [place] } }
    const ask = `curl -sS -f -m 10 -H "X-Key: $KEY" http://${place}/`
    {
      await using sandbox = await lazaret.sandbox({
        ...allowed,
        secrets: { KEY: { value, hosts: [`http://${place}`] } },
      })
      assert.equal((await sandbox.exec(ask)).stdout, 'done')
      assert.deepEqual(received, [value])
    }
    await using sandbox = await lazaret.sandbox({ ...allowed, secrets: { KEY: { value, hosts: [place] } } })
    assert.notEqual((await sandbox.exec(ask)).exitCode, 0)
    assert.deepEqual(received, [value])
    plain.close()
  })

  it('is refused if it could not be protected, before anything is started', async () => {
    const open = (asked: object) => lazaret.sandbox({ network, ...asked })
    const one = (secret: object) => ({ secrets: { KEY: { value, hosts: [host], ...secret } } })
    const refused = (message: RegExp) => ({ code: 'INVALID_REQUEST', message })
    await assert.rejects(open({ ...one({}), network: 'none' }), refused(/a network policy/))
    await assert.rejects(open(one({ hosts: ['other.example'] })), refused(/KEY is for other\.example:443/))
    await assert.rejects(open(one({ hosts: ['10.0.0.1'] })), refused(/is an address/))
    await assert.rejects(open(one({ hosts: [] })), refused(/hosts/))
    await assert.rejects(open(one({ value: 'short' })), refused(/8 to 4096/))
    await assert.rejects(open(one({ value: 'line\r\nX-Other: header' })), refused(/printable/))
    await assert.rejects(open(one({ in: ['body'] })), refused(/in/))
    await assert.rejects(open({ secrets: { 'A B': { value, hosts: [host] } } }), refused(/variable/))
  })
})
