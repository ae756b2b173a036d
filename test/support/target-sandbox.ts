/** A sandbox to be attacked from inside, and what must be true of it while that lasts and afterwards. */
import assert from 'node:assert/strict'

import type { ExecResult, Sandbox, SandboxOptions } from '../../src/index.ts'
import { isAlive, listDescendants } from './machine/processes.ts'
import type { TestLazaret } from './use-lazaret.ts'

export interface TargetSandbox extends AsyncDisposable {
  readonly sandbox: Sandbox
  /** In the default session, where the attack may end the shell that it is. */
  attack(command: string, timeout?: number): Promise<ExecResult | undefined>
  /** In a session of its own, whose shell the attack may have killed: it says so once, and comes back. */
  look(command: string): Promise<ExecResult>
  /** Throws unless control and user space stand, and commands of every kind are answered. */
  requireUnharmed(): Promise<void>
}

const answer = (result: ExecResult) => [result.stdout, result.exitCode]

export async function openTarget(guests: TestLazaret, options?: SandboxOptions): Promise<TargetSandbox> {
  const others = new Set(listInits().map(({ pid }) => pid))
  const sandbox = await guests.lazaret.sandbox(options)
  const inits = listInits().filter(({ pid }) => !others.has(pid))
  assert.equal(inits.length, 2, 'control and user space')
  const other = await sandbox.createSession({ id: 'other' })
  await other.exec(':')
  const look = async (command: string) => {
    try {
      const result = await other.exec(command)
      // Where a watchdog counts for all, whatever is beyond a limit ends all that runs at that moment.
      const isWatched = !guests.heldByCgroup && /limit|memory/.test(result.outcome.kind)
      return isWatched ? await other.exec(command) : result
    } catch (error) {
      requireTerminated(error)
      return other.exec(command)
    }
  }
  return {
    sandbox,
    look,
    async attack(command, timeout = 10_000) {
      try {
        return await sandbox.exec(command, { timeout })
      } catch (error) {
        requireTerminated(error)
        return undefined
      }
    },
    async requireUnharmed() {
      // Builtins only: with no process to spare a shell answers all the same.
      assert.deepEqual(answer(await look('echo $((40 + 2))')), ['42\n', 0])
      const secure = await sandbox.exec('/bin/echo $SECRET; (exit 7)', { env: { SECRET: 'kept' } })
      assert.deepEqual(answer(secure), ['kept\n', 7], secure.stderr)
      assert.deepEqual(inits.filter(isAlive), inits)
    },
    [Symbol.asyncDispose]: () => sandbox.destroy(),
  }
}

function requireTerminated(error: unknown): void {
  assert.equal(Reflect.get(Object(error), 'code'), 'SESSION_TERMINATED', String(error))
}

/** Pid 1 of every cell and space below this process. */
function listInits() {
  return listDescendants(process.pid).filter(({ pids }) => pids.length > 1 && pids.at(-1) === 1)
}
