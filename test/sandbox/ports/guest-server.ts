/** A server to run in a sandbox, without packages: HTTP, and a WebSocket that echoes its input. */
export const guestServer = `
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'

let written = 0
async function flood(response) {
  const piece = Buffer.alloc(1_000_000, 'x')
  for (let count = 0; count < 100; count++) {
    written += piece.length
    if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve))
  }
  response.end()
}

const server = createServer(async (request, response) => {
  switch (request.url) {
    case '/hello': return response.end('hello\\n')
    case '/echo': return request.pipe(response)
    case '/flood': return flood(response)
    case '/written': return response.end(JSON.stringify({ written }))
    case '/never': return undefined
    case '/page':
      return response.setHeader('content-type', 'text/html').end('<h1>waiting</h1><script>' +
        'const socket = new WebSocket(location.href.replace("http", "ws"));' +
        'socket.onopen = () => socket.send("it works");' +
        'socket.onmessage = ({ data }) => (document.querySelector("h1").textContent = data)</script>')
    case '/digest': {
      const hash = createHash('sha256')
      for await (const piece of request) hash.update(piece)
      return response.end(hash.digest('hex'))
    }
    default: return response.writeHead(404).end()
  }
})

server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1')
    .update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11')
    .digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n' +
    'Sec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
  // One short frame at a time (RFC 6455, section 5.2), which is all that the tests send.
  socket.on('data', (frame) => {
    const length = frame[1] & 127
    const text = Buffer.from(frame.subarray(6, 6 + length).map((byte, index) => byte ^ frame[2 + (index % 4)]))
    socket.write(Buffer.concat([Buffer.from([frame[0], length]), text]))
    if ((frame[0] & 15) === 8) socket.end()
  })
  socket.on('error', () => {})
})
server.listen(3000, process.argv[2])
`
