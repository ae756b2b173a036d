/** Programs that know nothing of a policy reach a TLS server through it. Without a rule they report why they do not. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { hasCommand } from '../../jail/seccomp/filtered-command.ts'

const leaks = new LeakCheck()
await leaks.takeBaseline()
const canRun = hasCommand('openssl') && hasCommand('git') && hasCommand('curl')
const lazaret = createLazaret({ access: { networks: ['none', 'local-policy'] } })
const { level } = await lazaret.probe()
const obstacle =
  (level === 'restricted' && 'without namespaces a policy is refused') ||
  (!canRun && 'there is no openssl, git or curl')

const folder = mkdtempSync(join(tmpdir(), 'lazaret-programs-'))
const served = join(folder, 'served')
const certificate = obstacle === false ? makeCertificate() : ''
const server = createSecureServer({
  allowHTTP1: true,
  ...(obstacle === false && { key: readFileSync(join(folder, 'key.pem')), cert: certificate }),
})
server.on('request', (request, response) => {
  const path = request.url.split('?')[0] ?? ''
  if (path.startsWith('/repository.git/')) {
    try {
      response.end(readFileSync(join(served, path)))
    } catch {
      response.statusCode = 404
      response.end()
    }
  } else response.end(`HTTP/${request.httpVersion} says hello`)
})
server.on('upgrade', (request: IncomingMessage, socket) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from('hello')]))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
/** A port that no rule names, whoever listens there. */
const unnamed = port === 49_151 ? 49_150 : 49_151

after(async () => {
  await lazaret[Symbol.asyncDispose]()
  server.close()
  rmSync(folder, { recursive: true, force: true })
  await leaks.checkDisposed()
})

function makeCertificate(): string {
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  const where = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')]
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', [...kind, '-days', '2', '-subj', '/CN=localhost', '-addext', names, ...where], {
    stdio: 'ignore',
  })
  const work = join(folder, 'work')
  mkdirSync(work)
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  execFileSync('git', ['init', '-q', work])
  execFileSync('git', [...identity, '-C', work, 'commit', '-q', '--allow-empty', '-m', 'first'])
  mkdirSync(served)
  execFileSync('git', ['clone', '-q', '--bare', work, join(served, 'repository.git')])
  execFileSync('git', ['-C', join(served, 'repository.git'), 'update-server-info'])
  return readFileSync(join(folder, 'certificate.pem'), 'utf8')
}

const trust =
  'export SSL_CERT_FILE=/workspace/ca.pem NODE_EXTRA_CA_CERTS=/workspace/ca.pem GIT_SSL_CAINFO=/workspace/ca.pem'
const url = (where: number) => `https://localhost:${where}/`

const programs: Record<string, (where: number) => string> = {
  curl: (where) => `curl -sS --cacert ca.pem ${url(where)}`,
  'curl, HTTP/1.1': (where) => `curl -sS --http1.1 --cacert ca.pem ${url(where)}`,
  git: (where) =>
    `git clone -q ${url(where)}repository.git cloned-${where} && git -C cloned-${where} log --format=%s`,
  'fetch in Node': (where) =>
    `node -e 'fetch("${url(where)}").then((one) => one.text()).then(console.log, (error) => { console.error(error.cause.code); process.exit(1) })'`,
  'WebSocket in Node': (where) =>
    `node -e 'const one = new WebSocket("${url(where).replace('https', 'wss')}"); one.onmessage = ({ data }) => { console.log(data); process.exit() }; one.onerror = () => { console.error("failed"); process.exit(1) }'`,
  'urllib in Python': (where) =>
    `python3 -c 'import urllib.request; print(urllib.request.urlopen("${url(where)}").read().decode())'`,
  'asyncio in Python': (where) => `python3 -c '
import asyncio, ssl
async def main():
    reader, writer = await asyncio.open_connection("localhost", ${where}, ssl=ssl.create_default_context())
    writer.write(b"GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n")
    print((await reader.read()).decode().split("\\r\\n\\r\\n")[1])
asyncio.run(main())'`,
}

describe('programs with a network policy', { skip: obstacle }, () => {
  it('reach named hosts over end-to-end TLS, and fail at once without a rule', async () => {
    await using sandbox = await lazaret.sandbox({
      network: { allow: [`localhost:${port}`] },
      files: { 'ca.pem': certificate },
    })
    for (const [name, program] of Object.entries(programs)) {
      const good = await sandbox.exec(`${trust}; ${program(port)}`)
      assert.match(good.stdout, /says hello|^first|^hello/, `${name}: ${good.stderr}`)
      assert.equal(good.exitCode, 0, name)
      const bad = await sandbox.exec(`${trust}; ${program(unnamed)}`, { timeout: 20_000 })
      assert.equal(bad.outcome.kind, 'completed', name)
      assert.notEqual(bad.exitCode, 0, name)
      assert.match(bad.stderr, /refused|connect|failed/i, name)
    }
    assert.match((await sandbox.exec(`curl -sS --cacert ca.pem ${url(port)}`)).stdout, /^HTTP\/2\.0/)
  })

  it('report that a name without a rule does not exist', async () => {
    await using sandbox = await lazaret.sandbox({ network: { allow: [`localhost:${port}`] } })
    const commands = {
      'curl -sS https://evil.example/': /Could not resolve host/,
      'git ls-remote https://evil.example/repository.git': /Could not resolve host/,
      'node -e \'fetch("https://evil.example/").catch((error) => console.error(error.cause.code))\'':
        /ENOTFOUND/,
      'python3 -c \'import urllib.request; urllib.request.urlopen("https://evil.example/")\'':
        /Name or service not known/,
    }
    for (const [command, says] of Object.entries(commands)) {
      const { stderr, receipt } = await sandbox.exec(command, { timeout: 20_000 })
      assert.match(stderr, says, command)
      assert.deepEqual(
        receipt.network?.refused.map(({ host, reason }) => [host, reason]),
        [['evil.example', 'not-allowed']],
      )
    }
  })
})

describe('fetch in Bun', { skip: obstacle }, () => {
  it('reaches a named host, and reports why others are refused', async () => {
    const code = (where: number) =>
      `await fetch('${url(where)}', { tls: { ca: ${JSON.stringify(certificate)} } }).then((one) => one.text()).catch((error) => error.code)`
    const network = { allow: [`localhost:${port}`] }
    const good = await lazaret.run({ language: 'javascript', code: code(port), network })
    assert.match(String(good.value), /says hello/)
    const bad = await lazaret.run({ language: 'javascript', code: code(unnamed), network })
    assert.match(String(bad.value), /ECONNREFUSED|ConnectionRefused/)
  })
})
