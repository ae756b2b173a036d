/** Exposed ports of a sandbox on the server. */
import type { SandboxConnection } from './sandbox-connection.ts'
import { isMissing } from './sandbox-connection.ts'

/** Works like `ExposedPort`. `url` is at the server's loopback address, so only programs on that machine reach it. */
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
      // A port whose sandbox has ended is closed.
      if (!isMissing(error)) throw error
    }
  }
  return { ...shown, close, [Symbol.asyncDispose]: close }
}
