/** One service for a test file. */
import assert from 'node:assert/strict'
import { after } from 'node:test'

import { CodeExecutionService } from '../../../src/adapters/code-execution/index.ts'
import type {
  CodeExecutionErrorType,
  CodeExecutionParams,
  CodeExecutionResult,
  WorkerPoolOptions,
} from '../../../src/adapters/code-execution/index.ts'

type More = Partial<CodeExecutionParams>

export interface TestService {
  readonly service: CodeExecutionService
  readonly execute: (code: string, more?: More) => Promise<CodeExecutionResult>
  /** The output of a program that succeeds. */
  readonly outputOf: (code: string, more?: More) => Promise<unknown>
  /** The error message of a program that fails with this type. */
  readonly errorOf: (errorType: CodeExecutionErrorType, code: string, more?: More) => Promise<string>
}

/** Call once, at the top of a test file. */
export function useService(options: WorkerPoolOptions = {}): TestService {
  // The tests run at every level.
  const service = new CodeExecutionService({ engine: { minimumProtection: 'restricted' }, ...options })
  after(() => service.shutdown())
  const execute = (code: string, more: More = {}) =>
    service.execute({ code, language: 'javascript', ...more })
  return {
    service,
    execute,
    async outputOf(code, more) {
      const result = await execute(code, more)
      assert.equal(result.success, true, `${code}: ${JSON.stringify(result)}`)
      assert.equal('error' in result || 'errorType' in result, false)
      return result.output
    },
    async errorOf(errorType, code, more) {
      const { success, error, errorType: found, output } = await execute(code, more)
      assert.deepEqual([success, found, output], [false, errorType, undefined], `${code}: ${error}`)
      assert.equal(typeof error, 'string')
      return error ?? ''
    },
  }
}
