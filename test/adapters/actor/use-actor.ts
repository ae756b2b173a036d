/** One actor for a test file, on a Lazaret that is checked for leaks. */
import { SubprocessCodeExecutionActor, MessageRouter } from '../../../src/adapters/actor/index.ts'
import type { ExecutionPayload, MessageResponse } from '../../../src/adapters/actor/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import type { TestLazaret } from '../../support/use-lazaret.ts'

export interface TestActor {
  readonly guests: TestLazaret
  readonly actor: SubprocessCodeExecutionActor
  /** The answer to a payload, whether it succeeds or not. */
  readonly ask: (payload: unknown) => Promise<MessageResponse>
  /** The payload of code that must succeed. */
  readonly execute: (code: string, language?: 'javascript' | 'typescript') => Promise<ExecutionPayload>
  /** The error and payload of code that must fail. */
  readonly fail: (code: string, timeout?: number) => Promise<{ error: string; payload: ExecutionPayload }>
}

export async function useActor(): Promise<TestActor> {
  const guests = await useLazaret()
  const actor = new SubprocessCodeExecutionActor(new MessageRouter(), 20_000, { lazaret: guests.lazaret })
  const ask = (payload: unknown) => actor.receive({ type: 'execute', id: '1', payload })
  return {
    guests,
    actor,
    ask,
    async execute(code, language = 'javascript') {
      const { success, payload, error } = await ask({ code, language })
      if (!success || payload === undefined) throw new Error(`It failed: ${error}`)
      return payload
    },
    async fail(code, timeout) {
      const { success, payload, error } = await ask({ code, timeout })
      if (success || payload === undefined || error === undefined) throw new Error('It did not fail.')
      return { error, payload }
    },
  }
}
