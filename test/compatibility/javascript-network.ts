/** Servers and clients on the cell's own loopback and on Unix sockets, names, and cryptography, in Node and Bun. */
import type { CompatibilityProgram } from './program.ts'

export const javascriptNetwork: readonly CompatibilityProgram[] = [
  {
    title: 'an HTTP server and fetch: JSON, streams, headers, keep-alive',
    code: `
import { createServer } from 'node:http'
import { once } from 'node:events'
const server = createServer(async (request, response) => {
  if (request.url === '/stream') {
    for (const part of ['a', 'b', 'c']) response.write(part)
    return response.end()
  }
  let body = ''
  for await (const part of request) body += part
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method: request.method, sum: JSON.parse(body).numbers.reduce((a, b) => a + b) }))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const base = 'http://127.0.0.1:' + server.address().port
const answer = await fetch(base, { method: 'POST', body: JSON.stringify({ numbers: [1, 2, 39] }) })
console.log(answer.status, answer.headers.get('content-type'), JSON.stringify(await answer.json()))
console.log(await (await fetch(base + '/stream')).text())
const all = await Promise.all(Array.from({ length: 50 }, async () => (await fetch(base + '/stream')).status))
console.log(all.length, new Set(all).size)
server.closeAllConnections()
server.close()`,
    prints: '200 application/json {"method":"POST","sum":42}\nabc\n50 1\n',
  },
  {
    title: 'fetch by the name localhost, and over IPv6',
    code: `
import { createServer } from 'node:http'
import { once } from 'node:events'
for (const [address, host] of [['127.0.0.1', 'localhost'], ['::1', '[::1]']]) {
  const server = createServer((request, response) => response.end('from ' + address)).listen(0, address)
  await once(server, 'listening')
  console.log(await (await fetch('http://' + host + ':' + server.address().port)).text())
  server.closeAllConnections()
  server.close()
}`,
    prints: 'from 127.0.0.1\nfrom ::1\n',
  },
  {
    title: 'Unix sockets: net and HTTP',
    code: `
import { createConnection, createServer } from 'node:net'
import * as http from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
const echo = createServer((socket) => socket.pipe(socket)).listen('echo.sock')
await once(echo, 'listening')
const client = createConnection('echo.sock')
client.end('echoed')
console.log(await text(client))
const web = http.createServer((request, response) => response.end('web ' + request.url)).listen('web.sock')
await once(web, 'listening')
const [response] = await once(http.get({ socketPath: 'web.sock', path: '/x' }), 'response')
console.log(await text(response))
echo.close()
web.closeAllConnections()
web.close()`,
    prints: 'echoed\nweb /x\n',
  },
  {
    title: 'UDP on loopback',
    code: `
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
const server = createSocket('udp4')
server.bind(0, '127.0.0.1')
await once(server, 'listening')
server.on('message', (message, from) => server.send(String(message).toUpperCase(), from.port, from.address))
const client = createSocket('udp4')
client.send('datagram', server.address().port, '127.0.0.1')
console.log(String((await once(client, 'message'))[0]))
client.close()
server.close()`,
    prints: 'DATAGRAM\n',
  },
  {
    title: 'HTTP/2 without TLS',
    code: `
import * as http2 from 'node:http2'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
const server = http2.createServer()
server.on('stream', (stream, headers) => { stream.respond({ ':status': 200 }); stream.end('h2 ' + headers[':path']) })
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const session = http2.connect('http://127.0.0.1:' + server.address().port)
const request = session.request({ ':path': '/here' })
console.log(await text(request))
session.close()
server.close()`,
    prints: 'h2 /here\n',
  },
  {
    title: 'HTTPS with a certificate made on the spot',
    needs: ['openssl'],
    code: `
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import * as https from 'node:https'
import { text } from 'node:stream/consumers'
execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], { stdio: 'ignore' })
const cert = readFileSync('cert.pem')
const server = https.createServer({ cert, key: readFileSync('key.pem') }, (request, response) => response.end('secret'))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const [response] = await once(https.get({ host: 'localhost', port: server.address().port, ca: cert, agent: false }), 'response')
console.log(response.socket.authorized, await text(response))
server.closeAllConnections()
server.close()`,
    prints: 'true secret\n',
  },
  {
    title: 'names: localhost is found, a name that does not exist is an error',
    code: `
import { lookup } from 'node:dns/promises'
console.log((await lookup('localhost', { family: 4 })).address, (await lookup('127.0.0.1')).family)
const error = await lookup('no-such-host.invalid').catch((error) => error)
console.log(error instanceof Error, error.syscall)`,
    prints: '127.0.0.1 4\ntrue getaddrinfo\n',
  },
  {
    title: 'a connection that is refused, a port that is taken',
    code: `
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address()
const second = createServer()
const taken = once(second, 'error')
second.listen(port, '127.0.0.1')
console.log((await taken)[0].code)
server.close()
await once(server, 'close')
console.log((await new Promise((resolve) => connect(port, '127.0.0.1').on('error', resolve))).code)`,
    prints: 'EADDRINUSE\nECONNREFUSED\n',
  },
  {
    title: 'scrypt, PBKDF2, HKDF, RSA, ECDH, signatures, in the thread pool',
    code: `
import * as crypto from 'node:crypto'
import { promisify } from 'node:util'
console.log((await promisify(crypto.scrypt)('password', 'salt', 16, { N: 4096 })).toString('hex'))
console.log((await promisify(crypto.pbkdf2)('password', 'salt', 10_000, 16, 'sha512')).toString('hex'))
console.log(Buffer.from(await promisify(crypto.hkdf)('sha256', 'key', 'salt', 'info', 16)).toString('hex'))
const { publicKey, privateKey } = await promisify(crypto.generateKeyPair)('rsa', { modulusLength: 2048 })
const sealed = crypto.publicEncrypt(publicKey, Buffer.from('sealed'))
console.log(String(crypto.privateDecrypt(privateKey, sealed)), crypto.createVerify('sha256').update('m').verify(publicKey, crypto.createSign('sha256').update('m').sign(privateKey)))
const [alice, bob] = [crypto.createECDH('prime256v1'), crypto.createECDH('prime256v1')]
const keys = [alice.generateKeys(), bob.generateKeys()]
console.log(alice.computeSecret(keys[1]).equals(bob.computeSecret(keys[0])), crypto.randomInt(1, 2), crypto.getHashes().length > 10)`,
    prints: [
      'e1d96c45c39931fbecda7a37cd6f64e0',
      '72629a41b076e588fba8c71ca37fadc9',
      '9ca0d662557439e3b83365f2da4626d3',
      'sealed true',
      'true 1 true\n',
    ].join('\n'),
  },
  {
    title: 'Web Crypto: AES-GCM, ECDSA, HMAC, PBKDF2',
    code: `
const { subtle } = crypto
const bytes = new TextEncoder().encode('message')
const key = await subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt'])
const iv = crypto.getRandomValues(new Uint8Array(12))
const sealed = await subtle.encrypt({ name: 'AES-GCM', iv }, key, bytes)
console.log(new TextDecoder().decode(await subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed)))
const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
const signature = await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, bytes)
console.log(await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, pair.publicKey, signature, bytes))
const mac = await subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
console.log(Buffer.from(await subtle.sign('HMAC', mac, bytes)).toString('hex').slice(0, 16))
const password = await subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
const derived = await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: bytes, iterations: 1000 }, password, 64)
console.log(Buffer.from(derived).toString('hex'))`,
    prints: 'message\ntrue\nede49d271bb93ef2\n07f9aa82c9c7a7f2\n',
  },
]
