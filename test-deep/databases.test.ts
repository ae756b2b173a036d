/** Databases in a sandbox, from their first start to the one that finds the data again; docs/reference/compatibility.md lists them. */
import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import type { Sandbox, SandboxProcess } from '../src/index.ts'
import { createLazaret } from '../test/support/create-lazaret.ts'
import { databases } from '../test/compatibility/databases.ts'
import type { DatabaseStep } from '../test/compatibility/databases.ts'
import { differenceAt } from '../test/compatibility/program.ts'
import { LeakCheck } from '../test/support/machine/leaks.ts'
import { whyNoSandboxes } from '../test/support/sandboxes-here.ts'

const folders = ['/usr/local/bin', '/usr/bin', '/bin', ...globSync('/usr/lib/postgresql/*/bin')]
/** The time for one command, or for the start and end of a server, on a busy machine. */
const patienceMs = 60_000
const leaks = new LeakCheck()
await leaks.takeBaseline()

describe('In a sandbox', { skip: await whyNoSandboxes() }, () => {
  for (const { title, needs = [], steps, differs = [] } of databases) {
    const absent = needs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
    const skip = absent.length > 0 && `not installed: ${absent.join(', ')}`
    test(title, { skip }, async () => {
      await using lazaret = createLazaret({ onEvent: () => undefined })
      await using sandbox = await lazaret.sandbox()
      const { isolation } = await sandbox.exec(':')
      const difference = differenceAt({ differs }, isolation.level)
      const [first] = steps
      const made = difference === undefined ? steps : [{ command: first.command, prints: difference.prints }]
      await makeSteps(sandbox, made)
    })
  }

  test('no process or file of them is left', () => leaks.checkDisposed())
})

async function makeSteps(sandbox: Sandbox, steps: readonly DatabaseStep[]): Promise<void> {
  let server: SandboxProcess | undefined
  for (const step of steps) {
    if ('command' in step) {
      const { stdout, stderr } = await sandbox.exec(step.command, { timeout: patienceMs })
      assert.equal(stdout, step.prints, `${step.command}\n${stderr}\n${JSON.stringify(server?.getLogs())}`)
    } else if ('server' in step) {
      server = await sandbox.startProcess(step.server)
      await server.waitForPort(step.port, { timeout: patienceMs })
    } else assert.deepEqual(await server?.waitForExit({ timeout: patienceMs }), { exitCode: 0 })
  }
}
