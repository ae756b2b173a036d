/**
 * The space of a Jupyter server: the server, which listens on a Unix socket in /tmp, and a relay for each connection.
 */
import type { Duplex } from 'node:stream'

import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { Space } from '../../jail/cell/sandbox-cell.ts'
import type { Spaces } from '../spaces.ts'
import { JupyterProcess } from './jupyter-process.ts'
import type { JupyterProgram } from './jupyter-process.ts'

export interface JupyterParts {
  readonly spaces: Spaces
  /** The guests' Python. */
  readonly python: string
  readonly folder: string
  readonly limits: Limits
  readonly variables: Readonly<Record<string, string>>
}

const folder = '/tmp/jupyter'
const socket = `${folder}/server.sock`

/** Kernels talk to the server through Unix sockets. With the host's network, others could reach loopback ports. */
const options = [
  `--ServerApp.sock=${socket}`,
  '--ServerApp.sock_mode=0600',
  '--ServerApp.open_browser=False',
  '--ServerApp.terminals_enabled=False',
  '--ServerApp.quit_button=False',
  '--KernelManager.transport=ipc',
] as const

/** The server takes its settings only from its command line, so files that commands write to HOME do not affect it. */
const ownFolders = {
  JUPYTER_NO_CONFIG: '1',
  JUPYTER_CONFIG_DIR: `${folder}/config`,
  JUPYTER_DATA_DIR: `${folder}/data`,
  JUPYTER_RUNTIME_DIR: `${folder}/runtime`,
  IPYTHONDIR: `${folder}/ipython`,
}

/** Starts in the kernels' first folder, but imports no modules from it, because commands can write there. */
const server = 'import sys; sys.path.remove(""); from jupyter_server.serverapp import main; sys.exit(main())'

const relay = `
import socket, sys, threading, time
server, host = socket.socket(socket.AF_UNIX), socket.socket(fileno=3)
end = time.monotonic() + float(sys.argv[2])
while True:
    try:
        server.connect(sys.argv[1])
        break
    except OSError:
        if time.monotonic() > end: raise
        time.sleep(0.02)
def carry(source, target):
    try:
        while data := source.recv(65536): target.sendall(data)
    except OSError: pass
    try: target.shutdown(socket.SHUT_WR)
    except OSError: pass
thread = threading.Thread(target=carry, args=(host, server))
thread.start()
carry(server, host)
thread.join()
`

export class JupyterSpace {
  readonly #parts: JupyterParts
  readonly #space: Space
  readonly #server: JupyterProcess
  /** The server's own token. The space knows it, so it protects nothing; the gate's token does. */
  readonly #token: string

  private constructor(parts: JupyterParts, space: Space) {
    const { python, folder: cwd, variables, spaces } = parts
    this.#parts = parts
    this.#space = space
    this.#token = spaces.parts.clock.id()
    this.#server = this.#start({
      file: python,
      argv: [python, '-c', server, ...options, `--ServerApp.root_dir=${cwd}`],
      env: {
        HOME: spaces.home,
        LANG: 'C.UTF-8',
        ...spaces.programVariables,
        ...variables,
        ...ownFolders,
        JUPYTER_TOKEN: this.#token,
      },
      hasChannel: false,
    })
  }

  /** Throws JAIL_UNAVAILABLE and CELL_FAILED, and then leaves nothing behind. */
  static async open(parts: JupyterParts): Promise<JupyterSpace> {
    const space = await parts.spaces.openContext(parts.limits)
    const jupyter = new JupyterSpace(parts, space)
    try {
      await jupyter.#server.started
      return jupyter
    } catch (error) {
      await jupyter.end().catch(() => undefined)
      throw error
    }
  }

  /** The value of the header `Authorization` in requests to the server. */
  get authorization(): string {
    return `token ${this.#token}`
  }

  /** Resolves when the server has ended. */
  get ended(): Promise<void> {
    return this.#server.ended
  }

  /** The reason for its end: the last line that it printed. */
  explainEnd(): LazaretError {
    const last = this.#server.tail.trim().split('\n').at(-1) ?? ''
    return new LazaretError('RUNTIME_UNAVAILABLE', {
      detail: `The Jupyter server has ended: ${last.slice(0, 300)}`,
      hint: 'The Python of guests needs jupyter-server and ipykernel (`toolchains.python`, or an environment).',
    })
  }

  /** Connects to the server, and retries for up to `patienceMs`. Throws CELL_FAILED. */
  async connect(patienceMs: number): Promise<Duplex> {
    const { python } = this.#parts
    const process = await this.#start({
      file: python,
      argv: [python, '-I', '-S', '-c', relay, socket, String(patienceMs / 1000)],
      env: {},
      hasChannel: true,
    }).started
    const { stream } = process
    if (stream === null) throw new LazaretError('CELL_FAILED', { detail: 'The relay has no channel.' })
    // Otherwise a server that keeps its end open would keep the relay alive.
    stream.once('close', () => process.kill())
    return stream
  }

  /** Resolves when nothing of the space is left. */
  end(): Promise<void> {
    return this.#space.clean()
  }

  #start(program: Omit<JupyterProgram, 'folder'>): JupyterProcess {
    const { spaces, limits, folder: cwd } = this.#parts
    return new JupyterProcess({ spaces, space: this.#space, limits }, { ...program, folder: cwd })
  }
}
