/** Four kinds of runs in turn, like the requests of a server's clients. */
import type { RunRequest } from '../../src/core/request.ts'

export interface MixedWork {
  readonly request: RunRequest
  /** The expected output or, for a program that prints nothing, its value. */
  readonly expected: unknown
}

export function mixedWork(number: number): MixedWork {
  const printed = `${number}\n`
  switch (number % 4) {
    case 0:
      return { request: { language: 'shell', code: `echo ${number}` }, expected: printed }
    case 1:
      return {
        request: { language: 'python', code: 'input_data * 2', input: number },
        expected: number * 2,
      }
    case 2:
      return {
        request: { language: 'javascript', runtime: 'snippet', code: `emit('${number}\\n')` },
        expected: printed,
      }
    default:
      return { request: { language: 'javascript', code: `console.log(${number})` }, expected: printed }
  }
}

/** What is wrong with a result; undefined if it is right. */
export function faultOfMixed(
  { expected }: MixedWork,
  { value, stdout }: { readonly value?: unknown; readonly stdout: string },
): string | undefined {
  const given = typeof expected === 'string' ? stdout : value
  return given === expected ? undefined : `expected ${String(expected)}, not ${String(given)}`
}
