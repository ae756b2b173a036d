/** The targets of the misbehaving examples: a real service, a real file and a real variable of this host. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bait } from './example.ts'

export async function layBait(): Promise<Bait & AsyncDisposable> {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const folder = await mkdtemp(join(tmpdir(), 'lazaret-example-'))
  const secretFile = join(folder, 'secret.txt')
  await writeFile(secretFile, 'a secret of the host\n')
  const secretName = 'LAZARET_EXAMPLE_SECRET'
  process.env[secretName] = 'another secret of the host'

  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    secretFile,
    secretName,
    async [Symbol.asyncDispose]() {
      delete process.env[secretName]
      await rm(folder, { recursive: true, force: true })
      server.close()
      await once(server, 'close')
    },
  }
}
