/** Starts and ends the Jupyter server of a sandbox, at most one at a time. */
import { endInOrder, endOnce } from '../../core/endings.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { makeSecret } from '../../jail/launch/launches.ts'
import type { Activity } from '../activity.ts'
import { checkFolder, checkKeys } from '../checks.ts'
import { checkMemory } from '../contexts/context-checks.ts'
import type { ContextsParts } from '../contexts/contexts.ts'
import type { JupyterGate } from './jupyter-gate.ts'
import { JupyterSpace } from './jupyter-space.ts'
import type { JupyterOptions, JupyterServer } from './jupyter-types.ts'

export interface JupyterGround extends Pick<ContextsParts, 'spaces' | 'governed' | 'programs' | 'variables'> {
  readonly activity: Activity
}

/** Long, because the server imports some hundred modules before it listens. */
const startMs = 60_000
/** How long later connections retry, in case the server has removed its socket. */
const laterMs = 2000

export class Jupyter {
  readonly #ground: JupyterGround
  #standing: Promise<JupyterServer> | undefined
  #space: JupyterSpace | undefined
  #isOver = false

  constructor(ground: JupyterGround) {
    this.#ground = ground
  }

  /** Throws INVALID_REQUEST, RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE, CELL_FAILED, and what the policy throws. */
  async start(given?: JupyterOptions): Promise<JupyterServer> {
    const { spaces, programs, variables, governed } = this.#ground
    const { cwd, limits: asked } = checkKeys(given, ['cwd', 'limits'])
    const folder = checkFolder(cwd) ?? spaces.workspace
    const most = spaces.parts.limits
    const memoryBytes = checkMemory(checkKeys(asked, ['memoryBytes']).memoryBytes, most.memoryBytes)
    const { python } = programs
    if (python instanceof LazaretError) throw python
    if (this.#standing !== undefined)
      throw new LazaretError('INVALID_REQUEST', { detail: 'The sandbox already has a Jupyter server.' })
    const limits = { ...most, memoryBytes }
    const work = {
      language: 'python',
      service: 'jupyter',
      limits,
      variables: Object.keys(variables()),
    } as const
    const standing = governed.context(work, async (begun) => {
      const parts = { spaces, python: python.file, folder, limits, variables: variables() }
      return this.#stand(await JupyterSpace.open(parts), begun.keep())
    })
    this.#standing = standing
    return standing.catch((error: unknown) => {
      this.#standing = undefined
      throw error
    })
  }

  /** Resolves when no server is left. */
  async end(): Promise<void> {
    this.#isOver = true
    // A server that is still starting ends now.
    await this.#space?.end()
    const standing = await this.#standing?.catch(() => undefined)
    await standing?.close()
  }

  async #stand(space: JupyterSpace, giveBack: () => void): Promise<JupyterServer> {
    const { activity } = this.#ground
    const { authorization } = space
    this.#space = space
    const token = makeSecret(this.#ground.spaces.parts.clock).toString('hex')
    let patienceMs = startMs
    // An HTTP server and client, which only Jupyter needs.
    const { JupyterGate } = await import('./jupyter-gate.ts')
    const gate = new JupyterGate({
      ...{ token, authorization },
      connect: () => space.connect(patienceMs),
      enter: () => activity.enter(),
    })
    const close = endOnce(async () => {
      await endInOrder('The Jupyter server could not be ended', [() => gate.close(), () => space.end()])
      this.#standing = undefined
      this.#space = undefined
      giveBack()
    })
    try {
      if (this.#isOver) throw new LazaretError('SANDBOX_GONE')
      await gate.open()
      await Promise.race([
        this.#answers(gate, token),
        space.ended.then(() => Promise.reject(space.explainEnd())),
      ])
    } catch (error) {
      await close().catch(() => undefined)
      throw error
    }
    patienceMs = laterMs
    // Without the server, the gate is useless, so it is closed.
    void space.ended.then(close).catch(() => undefined)
    return { url: gate.url, token, close, [Symbol.asyncDispose]: close }
  }

  /** Sends a request through the gate, as clients do. Guest code may answer, so redirects are not followed. */
  async #answers({ url }: JupyterGate, token: string): Promise<void> {
    const patience = new AbortController()
    const stop = this.#ground.spaces.parts.clock.after(startMs, () => patience.abort())
    try {
      const { ok, status, body } = await fetch(`${url}api/status`, {
        headers: { authorization: `token ${token}` },
        redirect: 'manual',
        signal: patience.signal,
      })
      await body?.cancel()
      if (!ok)
        throw new LazaretError('CELL_FAILED', { detail: `The Jupyter server answered with ${status}.` })
    } catch (cause) {
      if (cause instanceof LazaretError) throw cause
      throw new LazaretError('CELL_FAILED', { detail: 'The Jupyter server did not answer.', cause })
    } finally {
      stop()
    }
  }
}
