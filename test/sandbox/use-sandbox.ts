/** One sandbox for a test file, and a check at its end for leftovers. */
import { after } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'
import type {
  ExecOptions,
  ExecResult,
  Lazaret,
  Sandbox,
  SandboxOptions,
  SandboxSession,
} from '../../src/index.ts'
import { LeakCheck } from '../support/machine/leaks.ts'

export interface TestSandbox {
  readonly lazaret: Lazaret
  readonly sandbox: Sandbox
  readonly leaks: LeakCheck
  /** Whether commands with credentials have spaces of their own here. */
  readonly hasSecure: boolean
}

/** Call once, at the top of a test file. */
export async function useSandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  const leaks = new LeakCheck()
  await leaks.takeBaseline()
  // Ignores the event about a lower level, which matters only to some tests.
  const lazaret = createLazaret({ onEvent: () => undefined })
  const sandbox = await lazaret.sandbox(options)
  after(async () => {
    await sandbox.destroy()
    await lazaret[Symbol.asyncDispose]()
    await leaks.checkDisposed()
  })
  const { isolation } = await sandbox.exec(':')
  return { lazaret, sandbox, leaks, hasSecure: isolation.level !== 'restricted' }
}

export type RunCommand = (command: string, options?: ExecOptions) => Promise<ExecResult>

export interface Way {
  readonly name: string
  readonly isSecure: boolean
  readonly exec: RunCommand
}

export interface Ways {
  readonly ways: readonly Way[]
  /** Runs in all of them at the same time. */
  readonly everyWay: (look: (way: Way) => Promise<void>) => Promise<void>
  /** The used session. */
  readonly used: SandboxSession
}

/** Every way to run a command: in either space, in a new session and in a used one. */
export async function waysToRun({ sandbox, hasSecure }: TestSandbox): Promise<Ways> {
  const used = await sandbox.createSession()
  await used.exec('cd /tmp; export USED=1; used() { :; }; shopt -s extglob')
  const inFresh = async (command: string, options?: ExecOptions) => {
    const { id } = await sandbox.createSession()
    try {
      return await sandbox.exec(command, { ...options, sessionId: id })
    } finally {
      await sandbox.deleteSession(id)
    }
  }
  const withSecret =
    (exec: RunCommand): RunCommand =>
    (command, options) =>
      exec(command, { ...options, env: { TOKEN: 't0ken', ...options?.env } })
  const inUser = [
    { name: 'user space, fresh session', isSecure: false, exec: inFresh },
    { name: 'user space, used session', isSecure: false, exec: used.exec.bind(used) },
  ]
  const inSecure = inUser.map(({ name, exec }) => ({
    name: name.replace('user', 'secure'),
    isSecure: true,
    exec: withSecret(exec),
  }))
  const ways = hasSecure ? [...inUser, ...inSecure] : inUser
  return {
    ways,
    used,
    async everyWay(look) {
      await Promise.all(ways.map(look))
    },
  }
}
