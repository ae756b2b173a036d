/** The host's side of a sandbox's secret proxy: starts it for the first connection, and announces each connection. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { randomText, systemClock, unlessBefore } from '../../../core/clock.ts'
import { LazaretError } from '../../../core/errors/errors.ts'
import type { Keyring, Opened } from './keyring.ts'
import { ticketBytes } from './proxy-messages.ts'
import type { Admission, FromProxy, ToProxy } from './proxy-messages.ts'
import type { Target } from './secret-hosts.ts'

/** A connection that the proxy expects: at this port of the host's loopback, with these bytes first. */
export interface Expected {
  readonly port: number
  readonly ticket: Buffer
}

interface ProxyParts {
  readonly keyring: Keyring
  readonly connectionsMax: number
  readonly onUnreachable: (target: Target) => void
}

/** How long Node may take to start on a busy machine. */
const startMs = 20_000
/** How long it may take to expect a connection. It also serves other connections of the guest. */
const admitMs = 20_000

const program = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './proxy-process.ts' : './proxy-process.js', import.meta.url),
)

/** Variables that tell Node which authorities the operator trusts. */
const passedOn = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'] as const
/**
 * With these options it trusts the machine's authorities, and its small heap keeps few copies of secrets. Older
 * versions of Node lack some of them.
 */
const nodeOptions = [
  '--use-system-ca',
  '--disable-sigusr1',
  '--max-semi-space-size=2',
  '--max-old-space-size=128',
]

export class SecretProxy {
  readonly #parts: ProxyParts
  readonly #process: ChildProcess
  /** Resolves with its port; rejects when it is lost. */
  readonly #standing = Promise.withResolvers<number>()
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()
  readonly #gone: Promise<void>
  readonly #stopWaiting: () => void
  isLost = false

  constructor(parts: ProxyParts) {
    this.#parts = parts
    this.#process = start()
    this.#gone = new Promise((resolve) => {
      this.#process.once('exit', () => resolve())
      this.#process.once('error', () => {
        // Node keeps its end of the channel of a process that it could not start.
        if (this.#process.connected) this.#process.disconnect()
        resolve()
      })
    })
    void this.#gone.then(() => this.#lose())
    this.#standing.promise.catch(() => undefined)
    this.#process.on('message', (message: FromProxy) => this.#hear(message))
    this.#stopWaiting = systemClock.after(startMs, () => this.#process.kill('SIGKILL'))
    const { authority } = parts.keyring
    this.#say({ say: 'open', authority, connectionsMax: parts.connectionsMax })
  }

  /** Rejects when the proxy is lost. One that no longer answers is killed; the next connection starts another one. */
  async expect(
    connection: Pick<Admission, 'target' | 'addresses' | 'connectMs'> & Opened,
  ): Promise<Expected> {
    const ticket = Buffer.from(randomText(ticketBytes), 'latin1')
    const admission = { ...connection, ticket: ticket.toString('hex') }
    const port = await this.#standing.promise
    const admitted = Promise.withResolvers<void>()
    this.#waiting.set(admission.ticket, admitted)
    this.#say({ say: 'admit', admission })
    const cancel = unlessBefore(systemClock, admitMs, () => this.#process.kill('SIGKILL'))
    await admitted.promise.finally(cancel)
    return { port, ticket }
  }

  /** Ends it, and every connection with it. Resolves when it is gone. */
  async end(): Promise<void> {
    this.#process.ref()
    this.#process.kill('SIGKILL')
    await this.#gone
  }

  #say(message: ToProxy): void {
    this.#process.send(message, (error) => error !== null && this.#process.kill('SIGKILL'))
  }

  #hear(message: FromProxy): void {
    if (message.say === 'unreachable') return this.#parts.onUnreachable(message.target)
    if (message.say === 'ready') {
      this.#stopWaiting()
      return this.#standing.resolve(message.port)
    }
    this.#waiting.get(message.ticket)?.resolve()
    this.#waiting.delete(message.ticket)
    return undefined
  }

  #lose(): void {
    this.isLost = true
    this.#stopWaiting()
    const lost = new LazaretError('CELL_FAILED', { detail: 'The secret proxy is gone.' })
    this.#standing.reject(lost)
    for (const { reject } of this.#waiting.values()) reject(lost)
    this.#waiting.clear()
  }
}

/** Without standard streams and core files, because the report of a failure could contain a secret. Throws. */
function start(): ChildProcess {
  const options = nodeOptions.filter((option) =>
    process.allowedNodeEnvironmentFlags.has(option.split('=')[0] ?? ''),
  )
  const known = passedOn.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const child = fork(program, {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...Object.fromEntries(known), NODE_OPTIONS: options.join(' ') },
    execPath: '/bin/sh',
    execArgv: ['-c', 'ulimit -c 0; exec "$0" "$@"', process.execPath],
    cwd: '/',
  })
  child.unref()
  child.channel?.unref()
  return child
}
