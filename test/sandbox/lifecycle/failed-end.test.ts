/** A sandbox that cannot end, because a part of it cannot be removed: reported, not forgotten, and tried again. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'

import { LazaretError } from '../../../src/index.ts'
import { removeGroup } from '../../../src/jail/cgroup/files.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { eventually } from '../../support/eventually.ts'
import { listCgroups } from '../../support/machine/leaks.ts'
import { isAlive, listCells, listDescendants } from '../../support/machine/processes.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret, leaks, heldByCgroup } = await useLazaret({ onEvent: () => undefined })
const skip = !heldByCgroup && 'there are no cgroups to be stuck'
const deadMs = 10_000

/** An unrelated process, because the kernel does not remove a cgroup with a process in it. */
async function squat(cgroups: readonly string[]) {
  const squatter = spawn('sleep', ['600'], { stdio: 'ignore' })
  await once(squatter, 'spawn')
  leaks.allow(squatter.pid as number)
  for (const path of cgroups) writeFileSync(`${path}/cgroup.procs`, String(squatter.pid))
  const leave = async () => {
    if (squatter.exitCode !== null || squatter.signalCode !== null) return
    squatter.kill('SIGKILL')
    await once(squatter, 'exit')
  }
  after(leave)
  return leave
}

const isEndFailed = (error: unknown) => {
  assert.ok(error instanceof LazaretError, String(error))
  assert.equal(error.code, 'END_FAILED')
  assert.match(error.message, /EBUSY/)
  assert.ok(error.cause instanceof Error)
  return true
}

test('if its end fails, a sandbox is not gone, and the end can be tried again', { skip }, async () => {
  const before = new Set(listCgroups())
  const sandbox = await lazaret.sandbox({ id: 'stuck' })
  await sandbox.exec('true', { env: { TOKEN: 't' } })
  const made = listCgroups().filter((path) => !before.has(path))
  const [own] = made
  const leave = await squat([own as string])
  await assert.rejects(sandbox.destroy(), isEndFailed)
  assert.deepEqual([sandbox.isAlive, sandbox.isGone, sandbox.isStuck], [false, false, true])
  assert.deepEqual(lazaret.listSandboxes(), [sandbox])
  await assert.rejects(sandbox.exec('true'), { code: 'SANDBOX_GONE' })
  await assert.rejects(lazaret.sandbox({ id: 'stuck' }), { code: 'INVALID_REQUEST' })
  // Everything else is removed, including what follows the failed step.
  assert.deepEqual(
    listCgroups().filter((path) => !before.has(path)),
    [own],
  )
  await assert.rejects(sandbox.destroy(), isEndFailed)
  await leave()
  await lazaret.run({ language: 'shell', code: 'true' })
  assert.ok(!listCgroups().includes(own as string), 'taking further resources did not try again')
  await Promise.all([sandbox.destroy(), sandbox.destroy()])
  assert.deepEqual([sandbox.isAlive, sandbox.isGone, sandbox.isStuck], [false, true, false])
  assert.deepEqual(lazaret.listSandboxes(), [])
  await (await lazaret.sandbox({ id: 'stuck' })).destroy()
})

test('a failed end that is not awaited does not crash the host', { skip }, async () => {
  const before = new Set(listCgroups())
  const sandbox = await lazaret.sandbox({ idleTimeoutMs: 20 })
  const leave = await squat(listCgroups().filter((path) => !before.has(path)))
  await eventually(() => (sandbox.isAlive ? 'the sandbox idles' : undefined), deadMs)
  await assert.rejects(sandbox.destroy(), isEndFailed)
  await leave()
  await sandbox.destroy()
})

test('disposal reports what could not be removed, and removes it when called again', { skip }, async () => {
  const other = createLazaret({ onEvent: () => undefined })
  const before = new Set(listCgroups())
  await other.sandbox()
  const free = await other.sandbox()
  // Workers are parked from the second run of a kind on; Python's are forks.
  const code = 'import time; time.sleep(0.3)'
  for (let run = 0; run < 3; run++) await other.run({ language: 'python', code })
  await other.warmUp({ language: 'python' })
  const cells = listCgroups().filter((path) => !before.has(path) && /\/cell-\d+$/.test(path))
  const leave = await squat(cells)
  assert.equal((await other.run({ language: 'python', code: '1 + 1' })).value, 2)
  await assert.rejects(async () => other[Symbol.asyncDispose](), isEndFailed)
  assert.equal(free.isAlive, false)
  const others = listDescendants(process.pid).filter(({ name }) => name !== 'sleep' && name !== 'nursery')
  assert.deepEqual(others.filter(isAlive), [])
  await leave()
  await other[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
  assert.deepEqual(
    listCgroups().filter((path) => !before.has(path)),
    [],
  )
})

test('the command reports that its sandbox could not be ended, and exits', { skip }, async () => {
  const main = join(checkoutRoot, 'src/adapters/cli/main.ts')
  const command = spawn(process.execPath, [main, 'exec', 'echo; sleep 1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  leaks.allow(command.pid as number)
  const errors = text(command.stderr)
  await once(command.stdout, 'data')
  const cgroups = () => listCgroups(new RegExp(`/lazaret-\\d+-${command.pid}-`))
  const leave = await squat(cgroups().filter((path) => /\/cell-\d+$/.test(path)))
  const [exitCode] = await once(command, 'exit')
  await leave()
  // Any host that starts meanwhile on this machine may remove them, too, because their own host is dead.
  for (const path of cgroups().toReversed()) removeGroup(path)
  assert.equal(exitCode, 70)
  assert.match(await errors, /^lazaret: Something could not be stopped, .*EBUSY[^\n]*\n {2}Remove the cause/)
})

for (const signal of ['SIGSTOP', 'SIGKILL'] as const)
  test(`a sandbox can end, whichever of its own processes got ${signal} before`, async () => {
    const names = ['nursery', 'stub', 'pid 1', 'space'] as const
    for (const name of names) {
      const other = createLazaret({ onEvent: () => undefined, pools: {} })
      // From its second cell on a host has a nursery.
      for (let run = 0; run < 2; run++) await other.run({ language: 'shell', code: ':' })
      const nurseries = () => listDescendants(process.pid).filter((one) => one.name === 'nursery')
      // A worker that is parked later would be taken for the sandbox's cell.
      await other.releaseWorkers()
      const older = new Set(listCells().map(({ pid1 }) => pid1.pid))
      await eventually(() => (nurseries().length < 2 ? 'there is no nursery of its own' : undefined), deadMs)
      const nursery = nurseries().toSorted((a, b) => b.startTicks - a.startTicks)[0]
      const sandbox = await other.sandbox()
      const find = () => {
        const cell = listCells().find(({ pid1 }) => !older.has(pid1.pid))
        return { nursery, stub: cell?.stub, 'pid 1': cell?.pid1, space: cell?.guests[0] }
      }
      // A scan of all processes may miss one that was forked meanwhile.
      await eventually(() => (find()[name] === undefined ? `there is no ${name}` : undefined), deadMs)
      const victims = find()
      leaks.noteProcesses(Object.values(victims).filter((one) => one !== undefined))
      const victim = victims[name]
      assert.ok(victim, name)
      process.kill(victim.pid, signal)
      await sandbox.destroy()
      assert.equal(sandbox.isGone, true, name)
      await other[Symbol.asyncDispose]()
      // A process with a stopped parent is reaped by another one.
      const left = () => Object.values(victims).filter((one) => one !== undefined && isAlive(one))
      await eventually(() => left()[0] && `${name}: ${JSON.stringify(left())}`, deadMs)
    }
  })
