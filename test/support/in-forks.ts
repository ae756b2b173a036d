/** Repeats attacks from guests that are forks of a zygote: see the pass in scripts/testing/plan/passes.ts. */
import type { Lazaret, RunRequest } from '../../src/index.ts'
import { canBeParked, runParked } from './run-parked.ts'

/** Whether the tests of this process should use forks where they can. */
export const areInForks = process.env['LAZARET_TESTS_IN_FORKS'] !== undefined

/** The same Lazaret, except that each run that can be a fork is one, even if it would otherwise be a cold start. */
export function inForks(lazaret: Lazaret): Lazaret {
  const inOne = runParked(lazaret)
  const run = (request: RunRequest) => (canBeFork(request) ? inOne(request) : lazaret.run(request))
  return new Proxy(lazaret, {
    get(target, name) {
      if (name === 'run') return run
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function canBeFork(request: RunRequest): boolean {
  const { language, runtime = language === 'python' ? 'python' : 'bun', network = 'none' } = request
  return (
    ['python', 'bun', 'node'].includes(runtime) &&
    language !== 'shell' &&
    network === 'none' &&
    canBeParked(request)
  )
}
