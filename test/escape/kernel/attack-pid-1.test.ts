/**
 * Pid 1 of the cell controls the run: killing, stopping, tracing, starving or limiting it must not work. Without a
 * pid namespace, the warden has that role, and pid 1 is the host's init. Either way it is the guest's parent.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { attackPid1 } from '../../support/hostile/attack-pid-1.ts'
import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const hasPidNamespace = guests.level !== 'restricted'

test('shell: no signal ends or stops pid 1, and `kill -9 -1` leaves the run its own outcome', async () => {
  const code = `
for name in KILL STOP TERM INT HUP QUIT SEGV ABRT CHLD XCPU SYS USR1 34 64; do kill -s $name 1 2>/dev/null; kill -s $name $PPID 2>/dev/null; kill -s $name -1 2>/dev/null; trap '' TERM INT HUP QUIT XCPU USR1; done
test -d /proc/1 && test -d /proc/$PPID && echo $PPID lives
exit 7`
  // kill(-1) spares the shell itself, but it must ignore the signals that it has sent to its own pid above.
  const { outcome, stdout } = await guests.run({
    ...shell,
    code: `trap '' TERM INT HUP QUIT XCPU USR1\n${code}`,
    limits: { wallMs: ampleMs },
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 7 })
  assert.match(stdout, hasPidNamespace ? /^1 lives\n$/ : /^\d{2,} lives\n$/)
})

const javascript = `
  for (const name of ['SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGSEGV', 'SIGCHLD']) { for (const pid of [1, process.ppid]) { try { process.kill(pid, name) } catch {} } }
  try { process.kill(-1, 'SIGKILL') } catch {}
  const { existsSync } = await import('node:fs')
  console.log(existsSync('/proc/1'), existsSync('/proc/' + process.ppid))`

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: no signal ends or stops pid 1`, async () => {
    const { outcome, stdout } = await guests.run({
      ...runtime,
      code: javascript,
      limits: { wallMs: ampleMs },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(stdout, 'true true\n')
  })
}

test('python: pid 1 cannot be signalled by pidfd, traced, read, limited, reniced, pinned or marked for the oom killer', async () => {
  const { outcome, stdout, stderr } = await guests.run({
    ...python,
    code: attackPid1,
    limits: { wallMs: ampleMs },
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const { state, allowed } = JSON.parse(stdout) as { state: string; allowed: unknown }
  // It waits or works; it is neither stopped nor traced.
  assert.match(state, hasPidNamespace ? /^[RS]$/ : /^hidden$/)
  assert.deepEqual(allowed, [])
})

test('python: after every attack on pid 1 the wall limit still holds', async () => {
  const code = `
import os, resource, time
for number in range(1, 65):
    if number == 32 or number == 33: continue
    for pid in (1, os.getppid()):
        try: os.kill(pid, number)
        except OSError: pass
for what in (os.PRIO_PGRP, os.PRIO_USER):
    try: os.setpriority(what, 0, 19)
    except OSError: pass
print('done', flush=True)
time.sleep(60)`
  const { result, wallMs } = await runPatiently(guests.run, { ...python, code })
  assert.deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
  assert.equal(result.stdout, 'done\n')
})

test('the files of pid 1 in /proc reveal nothing of the host', async () => {
  const { stdout } = await guests.run({
    ...shell,
    code: `tr '\\0' ' ' < /proc/$PPID/cmdline; cat /proc/$PPID/comm`,
  })
  assert.equal(stdout, hasPidNamespace ? 'cell cell\n' : '')
})
