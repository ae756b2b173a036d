/** A sandbox that tests attack from inside, and the conditions that must hold during and after an attack. */
import assert from 'node:assert/strict'

import type { ExecResult, Sandbox, SandboxOptions } from '../../src/index.ts'
import { isAlive, listDescendants } from './machine/processes.ts'
import type { TestLazaret } from './use-lazaret.ts'

export interface TargetSandbox extends AsyncDisposable {
  readonly sandbox: Sandbox
  /** Runs in the default session. The attack may end the session's shell, which it runs in. */
  attack(command: string, timeout?: number): Promise<ExecResult | undefined>
  /**
   * Runs in a separate session. If an attack has killed its shell, the first command reports that, and the next one
   * works.
   */
  look(command: string): Promise<ExecResult>
  /** Throws unless the control and user spaces are alive, and commands of every kind work. */
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
      // If a watchdog enforces limits, exceeding one ends every command that runs at that moment.
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
      // Only builtins, because they work even if the space may have no further process.
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

/** The pid 1 of every cell and space of this process. */
function listInits() {
  return listDescendants(process.pid).filter(({ pids }) => pids.length > 1 && pids.at(-1) === 1)
}
