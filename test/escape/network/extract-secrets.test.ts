/**
 * Extracting a secret that a guest may only use: sending the placeholder elsewhere or in other forms, lying about the host,
 * hiding a second request in the first, getting it back in pieces or encoded, and reaching the proxy in other ways.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'

import type { Sandbox } from '../../../src/index.ts'
import { createAuthority } from '../../../src/jail/edge/secrets/authority.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { SecretApi } from '../../support/hosts/secret-api.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'

const leaks = new LeakCheck()
await leaks.takeBaseline()
const folder = mkdtempSync(join(tmpdir(), 'lazaret-secrets-'))
const operator = createAuthority()
writeFileSync(join(folder, 'operator.pem'), operator.certificate)
const certificatesBefore = process.env['NODE_EXTRA_CA_CERTS']
process.env['NODE_EXTRA_CA_CERTS'] = join(folder, 'operator.pem')
const api = await SecretApi.open(operator)
/** A host that is allowed, but not for the secret. */
const other = await SecretApi.open(operator)
/** A host of the secret, with a certificate of an untrusted authority. */
const impostor = await SecretApi.open(createAuthority())
const lazaret = createLazaret({ access: { networks: ['none', 'local-policy'] } })
const { level } = await lazaret.probe()
const obstacle = level === 'restricted' && 'without namespaces a policy is refused'
const value = 'sk-Very-Secret-42'
/** With characters that some encoders of forms encode, and others do not. */
const formValue = "Kx8Q~7dE!3n'R(5t)Y*uP"
const host = `localhost:${api.port}`

beforeEach(() => {
  for (const one of [api, other, impostor]) {
    one.seen.length = 0
    one.answer = undefined
  }
})
after(async () => {
  await lazaret[Symbol.asyncDispose]()
  for (const one of [api, other, impostor]) await one[Symbol.asyncDispose]()
  if (certificatesBefore === undefined) delete process.env['NODE_EXTRA_CA_CERTS']
  else process.env['NODE_EXTRA_CA_CERTS'] = certificatesBefore
  rmSync(folder, { recursive: true, force: true })
  await leaks.checkDisposed()
})

/** Sends bytes to the API over TLS, and prints the answer. */
const guestProgram = `
import os, socket, ssl, sys
key = os.environ['KEY']
def say(words, port=${api.port}, name='localhost', alpn=None, encrypted=True):
    trust = ssl.create_default_context()
    trust.check_hostname = False
    if alpn: trust.set_alpn_protocols(alpn)
    try:
        one = socket.create_connection(('localhost', port), 20)
        if encrypted: one = trust.wrap_socket(one, server_hostname=name)
        one.sendall(words.encode('latin1'))
        answer = b''
        while True:
            piece = one.recv(65536)
            if not piece: return answer.decode('latin1')
            answer += piece
    except ssl.SSLError as error: return f'SSL: {error.reason}'
    except OSError as error: return type(error).__name__
def status(answer): return answer.split(' ')[1] if answer.startswith('HTTP/') else answer or 'closed'
def ask(target='/', headers=(), body='', method='GET', host='${host}'):
    lines = [f'{method} {target} HTTP/1.1', f'Host: {host}', f'X-Key: {key}', 'Connection: close', *headers]
    return '\\r\\n'.join(lines) + '\\r\\n\\r\\n' + body
`

describe('a guest that wants a secret itself', { skip: obstacle }, () => {
  let sandbox: Sandbox
  before(async () => {
    const hosts = [host, `localhost:${impostor.port}`]
    sandbox = await lazaret.sandbox({
      network: { allow: [...hosts, `localhost:${other.port}`], connectionsMax: 1000 },
      secrets: { KEY: { value, hosts }, FORM_KEY: { value: formValue, hosts } },
    })
  })
  after(() => sandbox.destroy())

  const run = async (code: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await sandbox.exec('python3 -', { stdin: guestProgram + code })
    assert.deepEqual([exitCode, stderr], [0, ''])
    assert.ok(!stdout.toLowerCase().includes('very-secret'), stdout)
    return stdout.trimEnd()
  }

  it('gets nothing by sending the placeholder to another host, or following a redirect there', async () => {
    const code = `
import urllib.request
untrusting = ssl._create_unverified_context()
urllib.request.urlopen(urllib.request.Request('https://localhost:${other.port}/', headers={'X-Key': key}), context=untrusting).read()
urllib.request.urlopen(urllib.request.Request('https://${host}/', headers={'X-Key': key}), context=untrusting).read()
print(key)`
    api.answer = (_request, response) =>
      response.writeHead(302, { location: `https://localhost:${other.port}/taken` }).end()
    const key = await run(code)
    assert.equal(api.last.headers['x-key'], value)
    assert.deepEqual(
      other.seen.map(({ url, headers }) => [url, headers['x-key']]),
      [
        ['/', key],
        ['/taken', key],
      ],
    )
  })

  it('gets nothing by another form of the placeholder, or another place', async () => {
    const code = `
import base64
for header in (key.upper(), key[:-1], key[:10] + ' ' + key[10:], base64.b64encode(key.encode()).decode(), ''.join(f'%{ord(one):x}' for one in key)):
    print(status(say(ask(headers=[f'X-Other: {header}']))))
print(status(say(ask(target=f'/{key}?key={key}', headers=[f'{key}: name', f'Content-Length: {len(key)}'], body=key, method='POST'))))`
    assert.equal(await run(code), Array.from({ length: 6 }, () => '200').join('\n'))
    assert.equal(api.seen.length, 6)
    for (const { url, headers, body } of api.seen) {
      assert.equal(headers['x-key'], value)
      const { 'x-key': _, ...others } = headers
      assert.ok(!JSON.stringify([url, others, body]).toLowerCase().includes('very-secret'))
    }
  })

  it('cannot name a host other than the one that the connection leads to', async () => {
    const code = `
for one in ('evil.example', 'localhost', 'localhost:${other.port}', '${host}.evil.example', '${host}@evil.example', ''):
    print(status(say(ask(host=one))), end=' ')
print(status(say(ask(headers=['Host: evil.example']))), status(say(ask(target='https://evil.example/'))), status(say(ask(target='evil.example:443', method='CONNECT'))), end=' ')
print(status(say('GET / HTTP/1.0\\r\\n\\r\\n')), status(say('GET / HTTP/1.1\\r\\nConnection: close\\r\\n\\r\\n')))
print(say(ask(), name='evil.example'))
print(status(say(ask(), name=None)))`
    const [refused, named, unnamed] = (await run(code)).split('\n')
    assert.equal(refused, '421 421 421 421 421 421 421 400 closed 421 400')
    assert.match(named ?? '', /^SSL|ConnectionReset/)
    // Without a name in the handshake the certificate says which host it is.
    assert.equal(unnamed, '200')
    assert.deepEqual(
      api.seen.map(({ headers }) => headers['host']),
      [host],
    )
    assert.equal(other.seen.length, 0)
  })

  it('cannot hide a request in another', async () => {
    const code = `
inner = 'GET /inner HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n'
for headers in (
    ['Content-Length: 4', 'Transfer-Encoding: chunked'], ['Content-Length: 4', f'Content-Length: {len(inner)}'],
    ['Transfer-Encoding: xchunked'], ['Transfer-Encoding: gzip, chunked'], ['Transfer-Encoding : chunked'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], ['Content-Length: +4'], ['Content-Length: 0x4'],
    ['X-Folded: one', ' two'], ['X-Bare: one\\rContent-Length: 4'], ['X-Zero: one\\0'], ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__', 'Connection: Upgrade, HTTP2-Settings'],
):
    print(status(say(ask(method='POST', headers=headers, body='0\\r\\n\\r\\n' + inner))), end=' ')
print()
print(status(say(ask(method='POST', headers=['Connection: Content-Length, Host', f'Content-Length: {len(inner)}'], body=inner))))
print(status(say(ask(method='POST', headers=['Transfer-Encoding: chunked'], body=f'{len(inner):x}\\r\\n{inner}\\r\\n0\\r\\n\\r\\n'))))`
    const [hidden = '', framed, chunked] = (await run(code)).split('\n')
    assert.doesNotMatch(hidden, /200/)
    assert.deepEqual([framed, chunked], ['200', '200'])
    assert.deepEqual(
      api.seen.map(({ url, body }) => [url, body.startsWith('GET /inner')]),
      [
        ['/', true],
        ['/', true],
      ],
    )
  })

  it('finds no other protocol than HTTP/1.1, and no unencrypted way', async () => {
    const code = `
print(say(ask(), alpn=['h2']))
print(status(say(ask(), alpn=['h2', 'http/1.1'])))
print(status(say(ask(), encrypted=False)))
print(status(say('PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n')))`
    const [two, both, plain, preface] = (await run(code)).split('\n')
    assert.match(two ?? '', /^SSL/)
    assert.equal(both, '200')
    // The answer of the proxy, which sends nothing on.
    assert.equal(plain, '400')
    assert.match(preface ?? '', /^(?:4..|closed)$/)
    assert.equal(api.seen.length, 1)
  })

  it('is not shown it by an answer in another encoding, header, status or first answer', async () => {
    api.answer = (request, response) => {
      const key = String(request.headers['x-key'])
      if (request.url === '/gzip')
        return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(key))
      if (request.url === '/odd')
        return void response.socket?.end('HTTP/1.1 99 Odd\r\nContent-Length: 0\r\n\r\n')
      response.writeEarlyHints({ link: `<https://${host}/>; rel=preload; title="${key}"` })
      response.writeHead(200, `Fine ${key}`, {
        [`x-${key}`]: 'name',
        'x-lower': key.toLowerCase(),
        'x-base': Buffer.from(`ab${key}cd`).toString('base64'),
        trailer: 'x-last',
        'set-cookie': `key=${encodeURIComponent(key)}`,
      })
      response.addTrailers({ 'x-last': key })
      return void response.end('body')
    }
    const answer = await run(
      `print(say(ask()))\nprint(status(say(ask('/gzip'))))\nprint(status(say(ask('/odd'))))`,
    )
    assert.match(answer, /^HTTP\/1\.1 200 OK\r?\n/)
    assert.match(answer, /x-lower: \*{17}/)
    assert.ok(!answer.includes(Buffer.from(`ab${value}cd`).toString('base64').slice(6, 18)))
    assert.match(answer, /502\n502$/)
    assert.equal(api.last.headers['accept-encoding'], 'identity')
  })

  it('is not shown it as form data, whichever library has encoded it', async () => {
    const encode = (text: string, plain: RegExp) =>
      text.replaceAll(plain, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
    const encoders: Record<string, (text: string) => string> = {
      WHATWG: (text) => new URLSearchParams({ key: text }).toString(),
      Java: (text) => `key=${encode(text, /[^\w.*-]/g)}`,
      PHP: (text) => `key=${encode(text, /[^\w.-]/g)}`,
    }
    api.answer = (request, response) => {
      const key = String(request.headers['x-form'])
      const form = encoders[String(request.headers['x-encoder'])]?.(key) ?? ''
      const location = `https://${host}/?${form}`
      response.writeHead(302, { location, 'x-form': form, 'content-length': form.length })
      for (const one of form) response.write(one)
      response.end()
    }
    for (const encoder of Object.keys(encoders)) {
      const code = `print(say(ask(headers=[f'X-Form: {os.environ["FORM_KEY"]}', 'X-Encoder: ${encoder}'])))`
      const answer = await run(code)
      assert.equal(api.last.headers['x-form'], formValue)
      assert.equal(answer.match(/key=\*{21,}/g)?.length, 3, answer)
      assert.ok(!decodeURIComponent(answer).includes('Kx8Q'), answer)
    }
  })

  it('does not send it to a host with an untrusted certificate', async () => {
    const answer = await run(`print(say(ask(host='localhost:${impostor.port}'), port=${impostor.port}))`)
    assert.match(answer, /^HTTP\/1\.1 502 /)
    assert.match(answer, /could not be reached: [A-Z_]+\./)
    assert.equal(impostor.seen.length, 0)
  })

  it('gets an answer of gigabytes at its own pace, and the proxy keeps none of it', async () => {
    let sent = 0
    api.answer = (_request, response) => {
      const piece = Buffer.alloc(1024 * 1024, 'x')
      const more = (): void => {
        while (!response.destroyed && response.write(piece)) sent += piece.length
      }
      response.on('drain', more)
      response.on('error', () => undefined)
      more()
    }
    const code = `
one = ssl.create_default_context().wrap_socket(socket.create_connection(('localhost', ${api.port})), server_hostname='localhost')
one.sendall(ask().encode())
import time
one.recv(1000)
time.sleep(2)
print(one.recv(5) != b'')`
    assert.equal(await run(code), 'True')
    assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were taken for a guest that reads none`)
  })

  it('continues after a proxy was lost, and cannot use a proxy without a ticket', async () => {
    const find = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('lazaret-secrets')
        } catch {
          return false
        }
      })
    const ours = find().filter((pid) =>
      readFileSync(`/proc/${pid}/stat`, 'latin1').includes(` ${process.pid} `),
    )
    assert.equal(ours.length, 1)
    const [pid = ''] = ours
    const { port } = portOf(pid)
    const received = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      )
      socket.on('data', (data) => (text += String(data)))
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(text))
    })
    assert.equal(received, '')
    assert.equal(await run(`print(status(say(ask(), port=${port})))`), 'ConnectionRefusedError')
    process.kill(Number(pid), 'SIGKILL')
    assert.match(await run(`print(status(say(ask())), status(say(ask())))`), /^\S+ 200$/)
    assert.equal(api.last.headers['x-key'], value)
  })
})

/** The port on which a process of this machine listens. */
function portOf(pid: string): { port: number } {
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'latin1').trim().split('\n').slice(1)
  const inodes = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  const own = lines
    .map((line) => line.trim().split(/\s+/))
    .find((fields) => fields[3] === '0A' && inodes.includes(`socket:[${fields[9]}]`))
  return { port: Number.parseInt(own?.[1]?.split(':')[1] ?? '0', 16) }
}
