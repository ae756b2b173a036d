/** Exposed ports of a sandbox on the server. */
import type { SandboxConnection } from './sandbox-connection.ts'
import { isMissing } from './sandbox-connection.ts'

/** As `ExposedPort`. `url` is at the server's loopback address: only programs of its machine reach it. */
export interface RemotePort extends AsyncDisposable {
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

export async function exposeRemotely(sandbox: SandboxConnection, port: number): Promise<RemotePort> {
  const json = JSON.stringify({ port })
  const shown = await sandbox.sendJson<Pick<RemotePort, 'port' | 'url'>>({
    method: 'POST',
    path: '/ports',
    json,
  })
  const close = async (): Promise<void> => {
    try {
      await sandbox.send({ method: 'DELETE', path: `/ports/${shown.port}` })
    } catch (error) {
      // What has ended is closed.
      if (!isMissing(error)) throw error
    }
  }
  return { ...shown, close, [Symbol.asyncDispose]: close }
}
