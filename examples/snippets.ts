/**
 * What a model writes when it only needs to compute. `node examples/snippets.ts` runs the programs below, and prints the errors
 * that their author would get. The exit code is 0 if all ended as expected.
 */
import { snippetTool } from '../src/adapters/snippet-tool/index.ts'
import type { SnippetResult } from '../src/adapters/snippet-tool/index.ts'

interface Call {
  readonly name: string
  /** Whatever a model writes. */
  readonly request: unknown
  readonly isExpected: (result: SnippetResult) => boolean
}

const orders = 'pear,3\napple,2\npear,4'

const calls: readonly Call[] = [
  {
    name: 'counting',
    request: {
      source: `const sums = {}
for (const [name, count] of read_input().split('\\n').map((line) => line.split(','))) sums[name] = (sums[name] ?? 0) + +count
emit(JSON.stringify(sums))`,
      input: orders,
    },
    isExpected: ({ output }) => output === '{"pear":7,"apple":2}',
  },
  {
    name: 'reaching out',
    request: { source: `emit([typeof fetch, typeof require, typeof process, new Date().getFullYear()])` },
    isExpected: ({ output }) => output === 'undefined,undefined,undefined,1970',
  },
  {
    name: 'a mistake',
    request: { source: 'const total = 1\nemit(totall)' },
    isExpected: ({ error }) => error?.message === 'ReferenceError: totall is not defined (<code>:2:6)',
  },
  {
    name: 'no end',
    request: { source: 'try { for (;;); } finally { emit(1) }', limits: { wall_ms: 100 } },
    isExpected: ({ error }) => error?.code === 'TIMEOUT',
  },
  { name: 'no request', request: 'emit(1)', isExpected: ({ error }) => error?.code === 'INVALID_INPUT' },
]

let wrong = 0
for (const { name, request, isExpected } of calls) {
  const result = await snippetTool.run(request)
  const { output, error } = result
  const isRight = isExpected(result)
  if (!isRight) wrong++
  const text = error === undefined ? output : `${error.code}: ${error.message}`
  console.log(`${isRight ? 'ok   ' : 'WRONG'} ${name.padEnd(14)} ${text}`)
}
console.log(wrong === 0 ? 'Every snippet ended as it should.' : `${wrong} ended otherwise.`)
process.exitCode = wrong === 0 ? 0 : 1
