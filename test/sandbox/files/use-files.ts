/** The files of a real sandbox, in which guests run meanwhile. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import type { Sandbox } from '../../../src/index.ts'

const MiB = 1024 * 1024
export const diskBytes = 32 * MiB

export interface TestFiles {
  readonly files: Sandbox
  /** Runs a shell program in the same sandbox and returns its output. */
  shell(code: string): Promise<string>
}

/** Call once, at the top of a test file. */
export function useFiles(): TestFiles {
  const lazaret = createLazaret({ pools: {} })
  let sandbox: Sandbox | undefined
  const there = (): Sandbox => {
    assert.ok(sandbox !== undefined, 'The sandbox is made before the first test.')
    return sandbox
  }
  before(async () => {
    sandbox = await lazaret.sandbox({ limits: { diskBytes } })
  })
  after(() => lazaret[Symbol.asyncDispose]())
  // Looked up at each call, because the sandbox is created after this.
  const files = new Proxy({} as Sandbox, {
    get(_, name) {
      const value: unknown = Reflect.get(there(), name)
      return typeof value === 'function' ? (value.bind(there()) as unknown) : value
    },
  })
  return {
    files,
    async shell(code) {
      // In a separate shell, so that its current folder does not affect the next one.
      const { stdout, stderr } = await there().exec(`(${code}\n)`)
      return stdout + stderr
    },
  }
}
