/**
 * Forks of code contexts as targets and as attackers: two interpreters in one space that signal and trace each other, leave
 * their trees, and lie about the fork, do not create it, or create another process instead.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import type { CodeContext } from '../../../src/index.ts'
import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { valueOf } from '../../sandbox/contexts/use-contexts.ts'
import { describeForks, forked, remove } from '../../sandbox/contexts/use-forks.ts'

/** The harness, which guest code can reach and change. */
const harness = 'harness = display.__globals__["load"]("fork")'

/** Attacks every other process of its space except pid 1 and its parent. */
const attack = `${pythonSyscalls}
found = []
others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]
for p in others:
    for number in (0, 9, 19):
        if call('kill', int(p), number) == 'ok': found.append((p, 'kill', number))
        if call('tgkill', int(p), int(p), number) == 'ok': found.append((p, 'tgkill', number))
    try:
        os.pidfd_open
        import signal
        signal.pidfd_send_signal(os.pidfd_open(int(p)), 9)
        found.append((p, 'pidfd'))
    except (OSError, AttributeError): pass
    for name in ('mem', 'environ', 'maps', 'auxv', 'syscall', 'stack'):
        try: found.append((p, name, len(open(f'/proc/{p}/{name}', 'rb').read(10))))
        except OSError: pass
    for link in ('cwd', 'exe', 'root', 'fd/0', 'fd/1', 'fd/3'):
        try: found.append((p, link, os.readlink(f'/proc/{p}/{link}')))
        except OSError: pass
    if call('ptrace', 16, int(p), 0, 0) == 'ok': found.append((p, 'ptrace'))
try: os.kill(-1, 9)
except OSError: pass
[len(others) > 0, [each for each in found if not (len(each) == 3 and each[2] == 0)]]`

/** The value of `code`, once it is as expected, or after a while: a killed process stays in /proc until pid 1 has reaped it. */
async function lastOf(context: CodeContext, code: string, expected: number): Promise<unknown> {
  let value = await valueOf(context.runCode(code))
  for (let turn = 0; value !== expected && turn < 50; turn++) {
    await pause(100)
    value = await valueOf(context.runCode(code))
  }
  return value
}

await describeForks((sandbox) => {
  test('neither signals, traces nor reads the other, and no process that the other has started', async () => {
    await using both = await forked(sandbox, 'import os\nsecret = "kept"')
    const { origin, fork } = both
    const child = 'import subprocess\nchild = subprocess.Popen(["sleep", "1000"])\nchild.poll()'
    for (const context of [origin, fork]) await valueOf(context.runCode(child))
    for (const context of [origin, fork]) {
      const looked = await context.runCode(attack)
      // It may kill its own child, and has done so.
      const [sawSome, found] = (looked.value ?? []) as [boolean, [string, ...unknown[]][]]
      const own = String(await valueOf(context.runCode('str(child.pid)')))
      assert.equal(sawSome, true, looked.stderr)
      assert.deepEqual(
        found.filter(([pid]) => pid !== own),
        [],
      )
    }
    for (const context of [origin, fork]) assert.equal(await valueOf(context.runCode('secret')), 'kept')
  })

  test('other contexts and commands see neither of them', async () => {
    await using both = await forked(sandbox, 'x = 1')
    const spy = await sandbox.createCodeContext()
    const seen = 'import os; len([p for p in os.listdir("/proc") if p.isdigit() and p != "1"])'
    assert.equal(await lastOf(spy, seen, 1), 1)
    const { stdout } = await sandbox
      .exec('grep -l guest.py /proc/[0-9]*/cmdline 2>/dev/null; kill -9 -1', {
        sessionId: (await sandbox.createSession()).id,
      })
      .catch(() => ({ stdout: '' }))
    assert.equal(stdout, '')
    for (const context of [both.origin, both.fork]) assert.equal(await valueOf(context.runCode('x')), 1)
    await remove(sandbox, spy)
  })

  test('processes that leave the tree of a context end with it, while its forks live', async () => {
    const leave = `import os, ctypes
def leave():
    print(ctypes.CDLL(None).prctl(36, 0, 0, 0, 0))
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            while True: os.sched_yield()
        os._exit(0)
    os.wait()`
    await using both = await forked(sandbox, leave)
    assert.equal((await both.fork.runCode('leave()')).stdout, '0\n')
    const count =
      '[open(f"/proc/{p}/stat").read().split()[2] for p in os.listdir("/proc") if p.isdigit() and p != "1"].__len__()'
    assert.equal(await valueOf(both.origin.runCode(count)), 3)
    await sandbox.deleteCodeContext(both.fork.id)
    assert.equal(await lastOf(both.origin, count, 1), 1)
  })

  test('a wrong pid is not accepted as a fork: pid 1, its own, one that does not exist, one of another process', async () => {
    for (const lie of ['1', 'os.getpid()', 'os.getppid()', '4000', '2**31 - 1', '2**32 - 1', '0', 'taken']) {
      await using both = await forked(sandbox, `import os\ntaken = os.getpid()\n${harness}`)
      const { origin } = both
      await valueOf(
        origin.runCode(`def lie(context, descriptors):
    os.write(descriptors[4], bytes(4) + (${lie}).to_bytes(4, "little"))
harness.fork = lie`),
      )
      await assert.rejects(origin.fork(), { code: 'FORK_REFUSED' })
      assert.equal(await valueOf(origin.runCode('1 + 1')), 2)
      assert.equal(await valueOf(both.fork.runCode('2 + 2')), 4)
    }
  })

  test('discarding, replacing or keeping the descriptors only prevents the fork', async () => {
    const bodies = [
      'pass',
      'raise SystemExit(1)',
      'os.write(descriptors[4], b"x" * 4000)',
      'os.write(descriptors[4], (1).to_bytes(4, "little") + b"\\x1b[31m" * 20)',
      'os.write(descriptors[3], b"\\xff" * 100)',
      'os.write(descriptors[1], b"printed before it was born")',
    ]
    for (const body of bodies) {
      const origin = await sandbox.createCodeContext()
      await valueOf(
        origin.runCode(`import os\n${harness}\ndef lie(context, descriptors): ${body}\nharness.fork = lie`),
      )
      await assert.rejects(origin.fork(), (error: { code?: string; message: string }) => {
        assert.equal(error.code, 'FORK_REFUSED')
        assert.doesNotMatch(error.message, /\x1b/) // oxlint-disable-line no-control-regex -- this is what must not be there
        return true
      })
      assert.equal(await valueOf(origin.runCode('1 + 1')), 2)
      await remove(sandbox, origin)
    }
  })

  test('a context that reports that it is ready and does not fork is ended after a while, but its forks are not', async () => {
    // The kernel needs a while to end a process with this much memory.
    await using both = await forked(sandbox, `import os, time\nx = 1\nbig = b"x" * (200 << 20)\n${harness}`)
    await valueOf(both.origin.runCode('harness.fork = lambda *_: time.sleep(1000)'))
    const waiting = both.origin.fork()
    const next = both.origin.runCode('x')
    await assert.rejects(waiting, { code: 'FORK_REFUSED' })
    const { outcome, isStateKept } = await next
    assert.deepEqual([outcome.kind, isStateKept], ['failed', true])
    assert.equal(await valueOf(both.fork.runCode('x')), 1)
  })

  test('a context can only pass off its own processes as its fork', async () => {
    const origin = await sandbox.createCodeContext()
    const outsider = await sandbox.createCodeContext()
    await valueOf(outsider.runCode('x = 1'))
    await valueOf(
      origin.runCode(`import os\n${harness}
def pass_off(context, descriptors):
    restrict, adopt = harness.create_calls()
    adopt(False)
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.write(write_end, os.getpid().to_bytes(4, "little"))
            os.execvp("sleep", ["sleep", "1000"])
        os._exit(0)
    os.wait()
    os.write(descriptors[4], bytes(4) + os.read(read_end, 4))
harness.fork = pass_off`),
    )
    const fork = await origin.fork().catch(() => undefined)
    if (fork !== undefined) {
      const { isStateKept } = await fork.runCode('1 + 1', { timeout: 100 })
      assert.equal(isStateKept, false)
      await remove(sandbox, fork)
    }
    assert.equal(await valueOf(origin.runCode('1 + 1')), 2)
    assert.equal(await valueOf(outsider.runCode('x')), 1)
    await remove(sandbox, origin, outsider)
  })

  test('messages of a fork that code makes during its run do not count', async () => {
    await using both = await forked(sandbox, 'import os\nx = 1')
    const { value, stdout } = await both.fork.runCode(
      'pid = os.fork()\nif pid == 0: x = 2\nelse: os.waitpid(pid, 0)\nprint("said")\nx',
    )
    assert.deepEqual([value, stdout], [1, 'said\nsaid\n'])
    assert.equal(await valueOf(both.origin.runCode('x')), 1)
  })
})
