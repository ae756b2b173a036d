/** A sandbox whose Python has a Jupyter server, for tests, and the way to it. */
import { KernelManager, ServerConnection } from '@jupyterlab/services'

import type { JupyterServer, Sandbox } from '../../../src/index.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const python = findPythonWith(['jupyter_server', 'ipykernel'])

export interface JupyterUse {
  readonly sandbox: Sandbox
  readonly jupyter: JupyterServer
}

/** Call once, at the top of a test file. `skip` says why there is none. */
export async function useJupyter() {
  const guests = await useLazaret(python === null ? {} : { toolchains: { python: python.path } })
  const isRestricted = guests.level === 'restricted'
  const skip =
    (python === null && 'no Python here has jupyter_server and ipykernel') ||
    (isRestricted && 'without namespaces there is no place for it')
  /** Everything is removed after `act`. */
  const withJupyter = async (act: (use: JupyterUse) => Promise<void>): Promise<void> => {
    await using sandbox = await guests.lazaret.sandbox()
    const jupyter = await sandbox.startJupyter()
    await act({ sandbox, jupyter })
  }
  return { guests, skip, withJupyter, isRestricted }
}

export function settingsOf({ url, token }: Pick<JupyterServer, 'url' | 'token'>): ServerConnection.ISettings {
  return ServerConnection.makeSettings({
    baseUrl: url,
    wsUrl: url.replace('http', 'ws'),
    token,
    appendToken: true,
  })
}

/** What Jupyter's own clients do, such as JupyterLab. */
export async function startKernel(jupyter: JupyterServer) {
  const manager = new KernelManager({ serverSettings: settingsOf(jupyter) })
  await manager.ready
  const kernel = await manager.startNew({ name: 'python3' })
  /** For a server that may be gone. */
  const forget = () => {
    kernel.dispose()
    manager.dispose()
  }
  return { kernel, forget, [Symbol.asyncDispose]: () => kernel.shutdown().finally(forget) }
}

export type Kernel = Awaited<ReturnType<typeof startKernel>>['kernel']

/** Its output, value, displays and end. */
export async function runCell(kernel: Kernel, code: string, onPrinted?: () => void) {
  const received = { stdout: '', values: [] as unknown[], error: '' }
  const future = kernel.requestExecute({ code })
  future.onIOPub = ({ header, content }) => {
    const message = content as { text?: string; data?: unknown; ename?: string }
    if (header.msg_type === 'stream') {
      received.stdout += message.text ?? ''
      onPrinted?.()
    }
    if (['execute_result', 'display_data'].includes(header.msg_type)) received.values.push(message.data)
    if (header.msg_type === 'error') received.error = message.ename ?? ''
  }
  await future.done
  return received
}

/** Sends a request, as any program of this machine can. */
export function visit(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(20_000) })
}
