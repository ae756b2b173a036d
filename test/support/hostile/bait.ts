/** What a guest that escapes would find on its host: a variable, a file, and a listening server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

export interface Bait {
  /** It is in the environment of this process and in a file. */
  readonly secret: string
  readonly secretFile: string
  /** The server's port on 127.0.0.1. */
  readonly port: number
  /** The number of connections that the server has accepted. */
  readonly countConnections: () => number
}

/** Call it before `useLazaret`, so that the leak check does not report it. */
export async function layBait(): Promise<Bait> {
  const secret = `bait-${crypto.randomUUID()}`
  process.env['LAZARET_BAIT'] = secret
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-bait-'))
  const secretFile = join(folder, 'secret')
  writeFileSync(secretFile, secret)
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  server.unref()
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
    delete process.env['LAZARET_BAIT']
  })
  return { secret, secretFile, port, countConnections: () => connections }
}
