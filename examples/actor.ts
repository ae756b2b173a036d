/**
 * What code can and cannot do in the actor. `node examples/actor.ts` sends the messages below and prints how each was
 * answered. The exit code is 0 if all answers were as expected. On a terminal it then executes what you type.
 */
import { createInterface } from 'node:readline/promises'
import { MessageRouter, SubprocessCodeExecutionActor } from '../src/adapters/actor/index.ts'
import type { ExecutePayload, MessageResponse } from '../src/adapters/actor/index.ts'

interface Step {
  readonly name: string
  readonly payload: ExecutePayload
  readonly isExpected: (answer: MessageResponse) => boolean
}

const timesOut = 'Execution timed out after 500ms (process killed)'
const steps: readonly Step[] = [
  { name: 'a value', payload: { code: '2 + 2' }, isExpected: ({ payload }) => payload?.result === 4 },
  {
    name: 'the console',
    payload: { code: `console.log('Starting...'); console.error('careful'); const result = 42; result` },
    isExpected: ({ payload }) => payload?.logs.join() === 'Starting...,ERROR: careful',
  },
  {
    name: 'TypeScript',
    payload: {
      code: `const greet = (name: string): string => 'Hello, ' + name; greet('World')`,
      language: 'typescript',
    },
    isExpected: ({ payload }) => payload?.result === 'Hello, World',
  },
  {
    name: 'an error',
    payload: { code: `throw new Error('Something failed')` },
    isExpected: ({ success, error }) => !success && error === 'Something failed',
  },
  {
    name: 'an endless loop',
    payload: { code: `console.log('before'); while (true) {}`, timeout: 500 },
    isExpected: ({ error, payload }) => error === timesOut && payload?.logs[0] === 'before',
  },
  {
    name: 'hidden globals',
    payload: {
      code: `[typeof process, typeof Bun, typeof require, typeof Function('return this')().fetch].join()`,
    },
    isExpected: ({ payload }) => payload?.result === 'undefined,undefined,undefined,undefined',
  },
  {
    name: 'a file of the host',
    payload: {
      code: `const { readFileSync } = await import('node:fs'); readFileSync('/etc/shadow', 'utf8')`,
    },
    isExpected: ({ success }) => !success,
  },
  {
    name: 'nothing left behind',
    payload: { code: `typeof result + typeof globalThis.left` },
    isExpected: ({ payload }) => payload?.result === 'undefinedundefined',
  },
]

const router = new MessageRouter()
await using actor = new SubprocessCodeExecutionActor(router, 5000)
router.register('code', actor)

const surprises: string[] = []
for (const { name, payload, isExpected } of steps) {
  const answer = await router.ask({ to: 'code', from: 'demo', type: 'execute', payload })
  console.log(`${name.padEnd(20)} ${tell(answer)}`)
  if (!isExpected(answer)) surprises.push(name)
}
console.log(
  surprises.length === 0 ? 'Every message was answered as expected.' : `Surprises: ${surprises.join(', ')}`,
)
process.exitCode = surprises.length === 0 ? 0 : 1
if (process.stdin.isTTY) await prompt()

/** Executes lines until the end of the input (Ctrl-D). */
async function prompt(): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: 'code> ' })
  lines.prompt()
  for await (const code of lines) {
    if (code.trim() !== '')
      console.log(tell(await router.ask({ to: 'code', type: 'execute', payload: { code } })))
    lines.prompt()
  }
}

function tell({ success, error, payload }: MessageResponse): string {
  const said =
    payload === undefined || payload.logs.length === 0 ? '' : `  logs ${JSON.stringify(payload.logs)}`
  const took = payload === undefined ? '' : `  ${payload.executionTime} ms`
  return `${success ? JSON.stringify(payload?.result) : `failed: ${error}`}${said}${took}`
}
