/** Outliving the timeout of a command: by leaving its process tree, by constant forking, by disturbing its end. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { eventually } from '../../support/eventually.ts'
import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { listDescendants } from '../../support/machine/processes.ts'
import { openTarget } from '../../support/target-sandbox.ts'
import type { TargetSandbox } from '../../support/target-sandbox.ts'
import { untilShown } from '../../support/patient-run.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { startCalmWatch } from '../../support/machine/processor-pressure.ts'

const guests = await useLazaret()

/** What the user space has besides its pid 1 and the shells that wait. */
async function listOthers({ look }: TargetSandbox): Promise<string[]> {
  const code =
    'for p in /proc/[0-9]*; do read -r name < $p/comm && [ $p != /proc/$$ ] && echo $name; done 2>/dev/null'
  const { stdout } = await look(code)
  return stdout.split('\n').filter((name) => !['', 'cell', 'bash'].includes(name))
}

async function requireEnded(target: TargetSandbox, command: string): Promise<void> {
  const { outcome } = await target.sandbox.exec(command, { timeout: 150 })
  assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: 150 })
  assert.deepEqual(await listOthers(target), [])
}

/** For processes that share much memory, each of which takes long to die. */
const lateMsMax = 1500

const python = (code: string) => `exec python3 - 3<&0 <<'end of code'\n${code}\nend of code`

test('processes with setsid, double forks or ignored signals, and a shell that used exec, end with it', async () => {
  await using target = await openTarget(guests)
  await requireEnded(target, 'trap "" TERM HUP INT; (setsid sh -c "sleep 60 & sleep 61" &); sleep 62 & wait')
  await requireEnded(target, '(setsid setsid sleep 63 &) ; nohup sleep 64 & disown -a; exec sleep 65')
  await target.requireUnharmed()
})

test('no command can stop adopting its descendants, or start a process that is not its descendant', async () => {
  await using target = await openTarget(guests)
  const code = `${pythonSyscalls}
import time
print([_libc.prctl(36, 0, 0, 0, 0), call('clone', 0x8000 | 17, 0, 0, 0, 0), call('clone3', (ctypes.c_uint64 * 11)(0x8000, 0, 0, 0, 17), 88)], flush=True)
if os.fork() == 0:
    os.setsid()
    print(call('clone', 0x8000 | 17, 0, 0, 0, 0), flush=True)
    if os.fork() == 0: time.sleep(60)
    os._exit(0)
time.sleep(60)`
  const expected = "[-1, 'EPERM', 'ENOSYS']\nEPERM\n"
  const { seen, deadlineMs } = await untilShown(
    (timeout) => target.sandbox.exec(python(code), { timeout }),
    (one) => one.seen.stdout === expected,
  )
  assert.equal(seen.stdout, expected)
  assert.deepEqual(seen.outcome, { kind: 'timed-out', limit: 'wall', limitMs: deadlineMs })
  assert.deepEqual(await listOthers(target), [])
  await target.requireUnharmed()
})

test('processes that live shorter than a scan end with it, even if they wake or kill stopped processes', async (context) => {
  const program = compileChain()
  if (program === undefined) {
    context.skip('there is no compiler for C here')
    return
  }
  await using target = await openTarget(guests, {
    files: { 'fork-chain': program },
    limits: { processesMax: 64 },
  })
  await target.sandbox.exec('chmod +x fork-chain')
  for (const words of ['1', '4', '2 wake', '2 kill']) await requireEnded(target, `exec ./fork-chain ${words}`)
  await target.requireUnharmed()
})

test('processes that share much memory do not delay the end of their command, and its output is kept', async () => {
  const code = `
import os, time
held = bytearray(os.urandom(4096)) * (32 * 1024)
for _ in range(40):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
print('all there', flush=True)
time.sleep(60)`
  const attempt = async (timeout: number) => {
    // On a machine so busy that they take a second to die, their space is ended, too.
    await using target = await openTarget(guests, { limits: { memoryBytes: 384 * 1024 * 1024 } })
    const watch = startCalmWatch()
    const { outcome, stdout } = await target.sandbox.exec(python(code), { timeout })
    return { outcome, stdout, lateMs: watch() - timeout }
  }
  const { seen, deadlineMs } = await untilShown(
    attempt,
    (one) => one.seen.stdout !== '' && one.seen.lateMs < lateMsMax,
    [2000, 8000],
  )
  assert.deepEqual(seen.outcome, { kind: 'timed-out', limit: 'wall', limitMs: deadlineMs })
  assert.equal(seen.stdout, 'all there\n')
  assert.ok(seen.lateMs < lateMsMax, `${seen.lateMs} ms late`)
})

test('a command whose space does not answer is ended with its space', async () => {
  const others = new Set(listDescendants(process.pid).map(({ pid }) => pid))
  const listOurs = () => listDescendants(process.pid).filter(({ pid }) => !others.has(pid))
  const sandbox = await guests.lazaret.sandbox()
  const isRunning = () => listOurs().some(({ name }) => name === 'sleep')
  const timeout = 5000
  const running = sandbox.exec('echo begun; exec sleep 60', { timeout })
  await eventually(() => (isRunning() ? undefined : 'the command has not begun'), timeout - 100)
  const inits = listOurs().filter(({ pids }) => pids.at(-1) === 1)
  const depth = Math.max(...inits.map(({ pids }) => pids.length))
  const [userSpace] = inits.filter(({ pids }) => pids.length === depth)
  assert.ok(userSpace !== undefined)
  process.kill(userSpace.pid, 'SIGSTOP')
  const { outcome, stdout } = await running
  assert.deepEqual([outcome, stdout], [{ kind: 'timed-out', limit: 'wall', limitMs: timeout }, 'begun\n'])
  await eventually(() => (isRunning() ? 'the command lives' : undefined), 10_000)
  await sandbox.destroy()
})

function compileChain(): Buffer | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'fork-chain-'))
  try {
    const program = join(folder, 'fork-chain')
    const source = join(import.meta.dirname, '../../support/hostile/fork-chain.c')
    execFileSync('cc', ['-O1', '-Wall', '-Wextra', '-Werror', '-static', '-o', program, source])
    return readFileSync(program)
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ENOENT') throw error
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}
