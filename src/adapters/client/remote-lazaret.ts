/** A Lazaret on another machine, or in another process of this one. */
import type { LazaretStats } from '../../engine/api.ts'
import type { RunRequest } from '../../core/request.ts'
import type { RunResult } from '../../core/result.ts'
import type { ProbeReport } from '../../jail/machine/probe-report.ts'
import type { SandboxOptions } from '../../sandbox/types.ts'
import type { CodeExecutionParams, CodeExecutionResult } from '../code-execution/types.ts'
import { Connection } from './connection.ts'
import type { ConnectOptions } from './connect-options.ts'
import { createSandbox, findSandbox, listSandboxes } from './remote-sandbox.ts'
import type { RemoteSandbox } from './remote-sandbox.ts'
import { runRemotely } from './remote-run.ts'

/** The interface of a Lazaret, over `fetch`. Properties of a local Lazaret become promises. */
export interface RemoteLazaret {
  /**
   * Works like `run()` of a local Lazaret: the same requests, outcomes and errors. There is no `client`, because the
   * token's name is the client.
   *
   * @throws {LazaretError} What `run()` throws, UNAUTHENTICATED, and CONNECTION_LOST when the server cannot be reached or its
   *   answer breaks off; then the run has been cancelled.
   */
  run(request: RunRequest): Promise<RunResult>
  /** Works like `sandbox()` of a local Lazaret. The sandbox belongs to the token. */
  sandbox(options?: SandboxOptions): Promise<RemoteSandbox>
  /** The token's sandboxes, oldest first. */
  listSandboxes(): Promise<readonly RemoteSandbox[]>
  /** Undefined for a sandbox that does not belong to the token, or has ended. */
  getSandbox(id: string): Promise<RemoteSandbox | undefined>
  /** Works like `execute()` of the service in `lazaret/code-execution`, but without host functions. */
  executeCode(params: RemoteCodeParams): Promise<CodeExecutionResult>
  /** Running and queued work on the server. Needs the scope `admin`. */
  stats(): Promise<LazaretStats>
  /** What the server's machine offers. Needs the scope `admin`. */
  probe(): Promise<ProbeReport>
}

/** The parameters that are sent over HTTP. */
export type RemoteCodeParams = Omit<CodeExecutionParams, 'bridge' | 'maxBridgeCalls' | 'signal' | 'client'>

/**
 * Connects to `lazaret serve`. Nothing is sent before its first call.
 *
 * @throws {LazaretError} INVALID_REQUEST for an invalid address, token or other option.
 * @example
 * ```ts
 * const lazaret = connectLazaret({ url: 'http://127.0.0.1:7341', token })
 * const { value } = await lazaret.run({ language: 'python', code: 'sum(range(10))' })
 * ```
 */
export function connectLazaret(options: ConnectOptions): RemoteLazaret {
  const connection = new Connection(options)
  return {
    run: (request) => runRemotely(connection, request),
    sandbox: (asked) => createSandbox(connection, asked),
    listSandboxes: () => listSandboxes(connection),
    getSandbox: (id) => findSandbox(connection, id),
    executeCode: (params) =>
      connection.sendJson<CodeExecutionResult>({
        method: 'POST',
        path: '/v1/code-execution',
        json: JSON.stringify(params),
      }),
    stats: () => connection.sendJson<LazaretStats>({ method: 'GET', path: '/v1/stats' }),
    probe: () => connection.sendJson<ProbeReport>({ method: 'GET', path: '/v1/probe' }),
  }
}
