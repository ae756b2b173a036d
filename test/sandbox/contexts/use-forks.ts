/** A sandbox for tests of forks of contexts. If the kernel cannot isolate forks, the tests check the refusal instead. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { test } from 'node:test'

import type { CodeContext, Sandbox } from '../../../src/index.ts'
import { describeContexts, valueOf } from './use-contexts.ts'
import type { ContextsUse } from './use-contexts.ts'

const securityModules = '/sys/kernel/security/lsm'

/** According to the kernel itself. */
function mayScope(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  const hasLandlock =
    !existsSync(securityModules) || readFileSync(securityModules, 'utf8').includes('landlock')
  return hasLandlock && (major > 6 || (major === 6 && minor >= 12))
}

/** Call once, at the top of a test file. `define` is called if contexts of Python can be forked. */
export function describeForks(
  define: (sandbox: Sandbox) => void | Promise<void>,
  options: ContextsUse = {},
): Promise<void> {
  return describeContexts((sandbox) => {
    if (mayScope()) return define(sandbox)
    test('without Landlock scopes a fork is refused with the reason, and the context stays', async () => {
      const context = await sandbox.createCodeContext()
      await valueOf(context.runCode('x = 1'))
      await assert.rejects(context.fork(), { code: 'FORK_REFUSED', message: /scopes of Landlock/ })
      assert.equal(await valueOf(context.runCode('x')), 1)
      await sandbox.deleteCodeContext(context.id)
    })
    return undefined
  }, options)
}

/** A context in which this code has run, and a fork of it; both end with the test. */
export async function forked(sandbox: Sandbox, code: string) {
  const origin = await sandbox.createCodeContext()
  await valueOf(origin.runCode(code))
  const fork = await origin.fork()
  return { origin, fork, [Symbol.asyncDispose]: () => remove(sandbox, origin, fork) }
}

export async function remove(sandbox: Sandbox, ...contexts: CodeContext[]): Promise<void> {
  for (const { id } of contexts) await sandbox.deleteCodeContext(id)
}
