/** The terminal of a sandbox on the server, over the platform's WebSocket. */
import { toBase64 } from '../../core/values/base64.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { connectionLost } from './connection.ts'
import { after } from './platform.ts'
import type { SandboxConnection } from './sandbox-connection.ts'

export interface TerminalOptions {
  /** Default 80 columns and 24 rows. */
  readonly columns?: number
  readonly rows?: number
  /** The id of a running process to attach to. Default: a new shell, which ends with the connection. */
  readonly process?: string
  /** The session of a new shell. Default: the default session. */
  readonly session?: string
  /** Called for each piece as it arrives. */
  readonly onOutput: (bytes: Uint8Array) => void
}

export interface RemoteTerminal {
  /** The id of its process. */
  readonly process: string
  /** Resolves when its process has ended. Rejects with CONNECTION_LOST when the connection ended before. */
  readonly ended: Promise<{ readonly exitCode: number }>
  write(text: string | Uint8Array): void
  resize(size: { readonly columns: number; readonly rows: number }): void
  /** Ends the connection, and with it a shell that it started. */
  close(): void
}

const protocolName = 'lazaret.terminal'
const tokenPrefix = 'lazaret.bearer.'
/** The server accepts frames of up to 64 KiB. */
const frameBytesMax = 32 * 1024
/** A server that starts a shell answers within a second or two; one that accepts and then says nothing is lost. */
const startMs = 60_000

interface Told {
  readonly type: string
  readonly process?: string
  readonly exitCode?: number
}

/** Throws CONNECTION_LOST, even if the server refuses the request: the platform does not say why. */
export async function openRemoteTerminal(
  sandbox: SandboxConnection,
  { onOutput, ...asked }: TerminalOptions,
): Promise<RemoteTerminal> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) query.set(name, String(value))
  const { url, token } = sandbox.connection.place
  const address = `${url.replace(/^http/, 'ws')}${sandbox.pathOf('/terminal')}?${query.toString()}`
  const socket = new WebSocket(address, [protocolName, tokenPrefix + toBase64Url(token)])
  socket.binaryType = 'arraybuffer'
  const started = Promise.withResolvers<string>()
  const ended = Promise.withResolvers<{ readonly exitCode: number }>()
  ended.promise.catch(() => undefined)
  socket.addEventListener('message', ({ data }: { readonly data: unknown }) => {
    if (data instanceof ArrayBuffer) return onOutput(new Uint8Array(data))
    const told = JSON.parse(String(data)) as Told
    if (told.type === 'started') started.resolve(told.process ?? '')
    else if (told.type === 'exit') ended.resolve({ exitCode: told.exitCode ?? 1 })
  })
  const lose = ({ reason = '' }: { readonly reason?: string }): void => {
    const lost =
      reason === '' ? connectionLost(undefined) : new LazaretError('CONNECTION_LOST', { detail: reason })
    started.reject(lost)
    ended.reject(lost)
  }
  socket.addEventListener('close', lose)
  socket.addEventListener('error', () => lose({}))
  const stopWaiting = after(startMs, () => {
    lose({ reason: `The server has not started the terminal within ${startMs / 1000} s.` })
    socket.close()
  })
  const process = await started.promise.finally(stopWaiting)
  return toTerminal(socket, process, ended.promise)
}

function toTerminal(socket: WebSocket, process: string, ended: RemoteTerminal['ended']): RemoteTerminal {
  return {
    process,
    ended,
    write: (text) => {
      const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
      for (let at = 0; at < bytes.length; at += frameBytesMax)
        socket.send(bytes.slice(at, at + frameBytesMax))
    },
    resize: ({ columns, rows }) => socket.send(JSON.stringify({ type: 'resize', columns, rows })),
    close: () => socket.close(),
  }
}

function toBase64Url(text: string): string {
  return toBase64(new TextEncoder().encode(text)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
