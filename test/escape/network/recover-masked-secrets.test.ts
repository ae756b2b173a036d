/**
 * Recovering a secret from answers in which it is masked: in pieces by ranges, letter by letter from how much of echoed
 * guesses the proxy holds back, in encodings that servers use, and in answers that cannot be masked.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { beforeEach, describe, test } from 'node:test'

import { FrameMaskingStream } from '../../../src/jail/edge/secrets/frame-mask.ts'
import { HiddenValues } from '../../../src/jail/edge/secrets/hidden-values.ts'
import { useSecretApi } from '../../support/hosts/use-secret-api.ts'

const value = `sk-"Very"/'Secret'&<42>+ok`
const { api, open, run, skip } = await useSecretApi(value)

describe('a guest that wants a masked secret', { skip }, () => {
  beforeEach(() => {
    api.seen.length = 0
    api.answer = undefined
  })

  test('range requests are not forwarded, and partial answers are refused', async () => {
    await using sandbox = await open()
    api.answer = (request, response) => {
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(String(request.headers.range)) ?? []
      const key = String(request.headers['x-key'])
      if (request.url === '/unasked') return void response.writeHead(206).end(key.slice(0, 7))
      return void response.end(from === undefined ? key : key.slice(Number(from), Number(to) + 1))
    }
    const parts = await run(
      sandbox,
      `
print(*(text(say(ask(headers=[f'Range: bytes={at}-{at + 4}', 'If-Range: "x"']))) for at in range(0, 25, 5)))
print(status(say(ask('/unasked'))))`,
    )
    assert.equal(parts, `${Array.from({ length: 5 }, () => '*'.repeat(value.length)).join(' ')}\n502`)
    assert.ok(api.seen.every(({ headers }) => !('range' in headers) && !('if-range' in headers)))
  })

  /** Sends guesses one by one to a server that repeats them, and prints whether the last word of each comes back at once. */
  const repeatGuesses = (guesses: readonly string[]) => `
one = dial()
one.sendall((ask('/repeat', ['Transfer-Encoding: chunked'], method='POST') + '2\\r\\n. \\r\\n').encode())
got = b''
while b'. ' not in got: got += one.recv(65536)
for guess in ${JSON.stringify(guesses)}:
    one.settimeout(20)
    one.sendall(f'{len(guess) + 3:x}\\r\\nzq {guess}\\r\\n'.encode())
    got = b''
    while b'zq ' not in got: got += one.recv(65536)
    one.settimeout(0.5)
    try: got += one.recv(65536)
    except OSError: pass
    print(guess.encode() in got.split(b'zq ')[1], end=' ')`

  test('the part of a guess that is held back does not reveal whether it is right', async () => {
    await using sandbox = await open()
    const usual = api.server.listeners('request')
    api.server.removeAllListeners('request')
    api.server.once('request', (request, response) => {
      response.flushHeaders()
      request.pipe(response)
      for (const one of usual) api.server.on('request', one as never)
    })
    const shown = await run(sandbox, repeatGuesses(['s', 'x', 'sk-', 'xk-', 'sk-"V', 'sk-"Q']))
    assert.equal(shown, Array.from({ length: 6 }, () => 'False').join(' '))
  })

  test('a WebSocket shows every frame at once, and a guess like any other text', async () => {
    await using sandbox = await open()
    api.server.once('upgrade', (request: IncomingMessage, socket) => {
      const accept = createHash('sha1')
        .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64')
      const frame = (text: string) => Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)])
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      const long = Buffer.from(`${'x'.repeat(130)}${String(request.headers['x-key'])}`)
      socket.write(
        Buffer.concat([
          frame('sk-'),
          frame('sk-"Ver'),
          frame(''),
          Buffer.from([0x81, 126, 0, long.length]),
          long,
        ]),
      )
      socket.write(Buffer.from([0x81]))
      setImmediate(() => socket.write(frame('zq').subarray(1)))
    })
    const seen = await run(
      sandbox,
      `
one = dial()
one.sendall(ask(headers=['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='], ends=False).encode())
got = b''
while not got.endswith(b'zq'): got += one.recv(65536)
print(repr(got.split(b'\\r\\n\\r\\n', 1)[1].decode('latin1')))`,
    )
    assert.ok(seen.includes(String.raw`\x81\x03sk-\x81\x07sk-"Ver\x81\x00\x81~\x00`), seen)
    assert.ok(seen.includes(`${'x'.repeat(130)}${'*'.repeat(value.length)}`), seen)
  })

  test('encoded forms are masked, too', async () => {
    await using sandbox = await open()
    const html = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    const forms = [
      JSON.stringify(value).replaceAll('/', String.raw`\/`),
      JSON.stringify(value)
        .replaceAll('&', String.raw`\u0026`)
        .replaceAll('<', String.raw`\u003c`)
        .replaceAll('>', String.raw`\u003e`),
      html,
      html.replaceAll('"', '&quot;').replaceAll("'", '&#x27;'),
      html.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
      encodeURIComponent(value).replaceAll("'", '%27'),
      encodeURIComponent(value).replaceAll('%2F', '/'),
      Buffer.from(value).toString('hex'),
      Buffer.from(value).toString('hex').toUpperCase(),
    ]
    api.answer = (_request, response) => void response.end(forms.join('\n'))
    const shown = await run(sandbox, `print(text(say(ask())))`)
    assert.match(shown, /^["*\n]+$/)
  })

  test('an answer that cannot be searched is refused, and no answer is awaited for ever', async () => {
    await using sandbox = await open()
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade:'
    api.answer = (request, response) => {
      const { url = '', socket } = request
      if (url === '/te')
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n')
      else if (url === '/switch') socket.write(`${head} websocket\r\n\r\n`)
      else response.end()
    }
    api.server.once('upgrade', (_request, socket) => void socket.write(`${head} other\r\n\r\nsk-`))
    const statuses = await run(
      sandbox,
      `
print(status(say(ask('/te'))), status(say(ask('/switch'))))
print(status(say(ask(headers=['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='], ends=False))))`,
    )
    assert.equal(statuses, '502 502\n502')
  })
})

test('frames that are masked or compressed are not passed on', async () => {
  for (const head of [
    [0xc1, 3],
    [0x81, 0x83],
  ]) {
    const stream = new FrameMaskingStream(new HiddenValues([value]))
    const failed = once(stream, 'error')
    stream.write(Buffer.from([0x81, 1, 0x61, ...head, 1, 2, 3]))
    await failed
    assert.ok(stream.destroyed)
  }
})
