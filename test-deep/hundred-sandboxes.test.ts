/** A hundred sandboxes, created and destroyed by the oldest supported Node: nothing is left, and the host ends. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { oldestNode } from '../scripts/testing/oldest-node.ts'
import { checkoutRoot } from '../test/support/sources/checkout.ts'
import { listCgroups } from '../test/support/machine/leaks.ts'
import { listProcesses } from '../test/support/machine/processes.ts'

const temporary = mkdtempSync(join(tmpdir(), 'lazaret-hundred-'))
after(() => rmSync(temporary, { recursive: true, force: true }))

/** A unique duration, even against the same test in another checkout. */
const sleepSeconds = `4321.${process.pid}`

/** It prints its pid, and disposes only the sandboxes and finally their Lazaret; then it has to end by itself. */
const program = `
  import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'dist/index.js'))}
  const lazaret = createLazaret({ onEvent: () => undefined })
  const secure = { env: { TOKEN: 't' } }
  const live = async (index) => {
    const sandbox = await lazaret.sandbox({ files: { given: String(index) }, allowDegradedSecrets: true })
    const { stdout } = await sandbox.exec('cat given; sleep ${sleepSeconds} & true', index % 2 === 0 ? {} : secure)
    if (index % 5 === 0) await sandbox.startProcess('sleep ${sleepSeconds}')
    await sandbox.destroy()
    if (stdout !== String(index) || sandbox.isAlive || !sandbox.isGone) throw new Error('sandbox ' + index)
  }
  for (let index = 0; index < 100; index += 4) await Promise.all([0, 1, 2, 3].map((more) => live(index + more)))
  if (lazaret.listSandboxes().length > 0) throw new Error('some are listed')
  await lazaret[Symbol.asyncDispose]()
  console.log(JSON.stringify({ pid: process.pid, version: process.versions.node }))`

/** Empty if it has ended meanwhile. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Lines that may belong to a cell. */
const listMounts = () =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => / - (tmpfs|devpts|proc) /.test(line))

test('a hundred sandboxes leave nothing behind, and their host process exits on its own', (context) => {
  const mounts = listMounts()
  const { status, stdout, stderr, signal } = spawnSync(oldestNode(), ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 110_000,
    env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: '' },
  })
  assert.deepEqual([status, signal, stderr], [0, null, ''])
  const { pid, version } = JSON.parse(stdout) as { readonly pid: number; readonly version: string }
  const commands = listProcesses().map((one) => commandOf(one.pid))
  assert.deepEqual(
    commands.filter((command) => command.startsWith(`sleep\0${sleepSeconds}`)),
    [],
  )
  assert.deepEqual(listCgroups(new RegExp(`/lazaret-\\d+-${pid}-`)), [])
  assert.deepEqual(readdirSync(temporary), [])
  assert.deepEqual(listMounts(), mounts)
  context.diagnostic(`Node ${version}`)
})
