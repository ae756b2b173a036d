/** Guests that are forks of a zygote: each is as isolated, confined and fresh as a newly started one. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { after, afterEach, before, describe, it } from 'node:test'

import { defaultLimits } from '../../../src/core/limits.ts'
import type { ProcessReport } from '../../../src/jail/cell/guest-process.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { sizedMounts } from '../../../src/jail/plan/mounts.ts'
import { ownView } from '../../../src/jail/plan/place.ts'
import { guestId } from '../../../src/jail/plan/shape.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import type { Zygote } from '../../../src/jail/cell/zygote-cell.ts'
import { encodeGuestRequest } from '../../../src/runtimes/channel/message-frame.ts'
import { ParkedGuest } from '../../support/parked-guest.ts'
import type { ParkOptions } from '../../support/parked-guest.ts'
import { unwatched } from '../../../src/jail/limits/limit-rows.ts'
import { hasNumbers, livingDescendants, openPythonZygote, python, roomMax } from './python-zygote.ts'
import { ampleMs } from '../../support/patient-run.ts'

const MiB = 1024 * 1024
const preload = ['random', 'uuid', 'tempfile', 'ssl', 'multiprocessing', ...(hasNumbers ? ['numpy'] : [])]

describe('guests of one zygote', { skip: python === null }, () => {
  let machine: Machine
  let zygote: Zygote
  const parked: ParkedGuest[] = []

  before(async () => {
    machine = new Machine({ uidRange: defaultUidRange })
    zygote = await openPythonZygote(machine, preload)
  })
  afterEach(async () => {
    for (const guest of parked.splice(0)) await guest[Symbol.asyncDispose]()
    assert.equal(zygote.room, roomMax)
  })
  after(async () => {
    await zygote[Symbol.asyncDispose]()
    await machine[Symbol.asyncDispose]()
    assert.deepEqual(livingDescendants(), [])
  })

  async function park(limits = defaultLimits, options: ParkOptions = {}): Promise<ParkedGuest> {
    const guest = await ParkedGuest.park(zygote, limits, options)
    parked.push(guest)
    return guest
  }

  async function ask(code: string): Promise<unknown> {
    const guest = await park()
    const { value, messages } = await guest.run(code)
    assert.ok(value !== undefined, JSON.stringify(messages) + guest.output)
    return value
  }

  it('answer concurrently', async () => {
    const [one, other] = [await park(), await park()]
    assert.equal((await other.run('6 * 7')).value, 42)
    assert.equal((await one.run('"a" * 3')).value, 'aaa')
    assert.deepEqual((await one.exited).end, { by: 'exit', exitCode: 0 })
    assert.ok((await one.exited).cpuMs > 0)
  })

  it('answer over their own channels, too', async () => {
    const [one, other] = [await park(defaultLimits, { channel: 'own' }), await park()]
    assert.equal((await other.run('6 * 7')).value, 42)
    assert.equal((await one.run('"a" * 100_000')).value, 'a'.repeat(100_000))
    assert.deepEqual((await one.exited).end, { by: 'exit', exitCode: 0 })
  })

  it('see the facts of their own process', async () => {
    // One helper of pid 1 may exist while it measures what the guest uses, but not all the time.
    const code = `import os, resource, threading, signal, time
def list_processes(): return {name for name in os.listdir("/proc") if name.isdigit()}
lasting = list_processes()
for _ in range(500):
    if len(lasting) > 2:
        time.sleep(0.01)
        lasting &= list_processes()
{"pid": os.getpid(), "parent": os.getppid(), "self": os.readlink("/proc/self"), "folder": os.getcwd(),
 "pids": sorted(lasting), "fds": sorted(os.listdir("/proc/self/fd"))[:4],
 "session": os.getsid(0) == os.getpid(), "core": resource.getrlimit(resource.RLIMIT_CORE),
 "files": resource.getrlimit(resource.RLIMIT_NOFILE), "ident": threading.main_thread().ident == threading.get_ident(),
 "main": threading.main_thread().native_id == os.getpid(), "env": sorted(os.environ), "user": os.path.expanduser("~"),
 "host": os.uname().nodename, "is_plain": min(*os.getresuid(), *os.getresgid()) >= ${guestId},
 "cgroups": sorted({line.strip().rpartition(":")[2] for line in open("/proc/self/cgroup")}), "caps": [l.split()[1] for l in open("/proc/self/status") if l.startswith("Cap")]}`
    const value = (await ask(code)) as Record<string, unknown>
    const pid = value['pid'] as number
    assert.deepEqual(value, {
      pid,
      parent: 1,
      self: String(pid),
      folder: '/workspace',
      pids: ['1', String(pid)],
      // The fourth belongs to the listing itself.
      fds: ['0', '1', '2', '3'],
      session: true,
      core: { $type: 'tuple', value: [1, 1] },
      files: { $type: 'tuple', value: [256, 256] },
      ident: true,
      main: true,
      env: ['HOME', 'LANG', 'PATH', 'TZ', 'USER'],
      user: '/workspace',
      host: 'cell',
      // The saved ids too: a fork executes nothing that would replace them.
      is_plain: true,
      cgroups: ['/'],
      caps: Array.from({ length: 5 }, () => '0000000000000000'),
    })
  })

  it('have no descriptors except their streams and their channel', async () => {
    const code = `import os
open_ones = []
for fd in range(256):
    try:
        os.fstat(fd)
        open_ones.append(fd)
    except OSError:
        pass
open_ones`
    assert.deepEqual(await ask(code), [0, 1, 2, 3])
  })

  it('leave nothing for the next one', async () => {
    const traces = `import os, sys, random, socket, resource
paths = ["/tmp/a", "/workspace/a", "/dev/shm/a"]
found = [path for path in paths if os.path.exists(path)]
found += [hasattr(random, "left")] if hasattr(random, "left") else []
found += ["module"] if "left_behind" in sys.modules else []
found += ["variable"] if "LEFT" in os.environ else []
for line in open("/proc/sysvipc/shm").readlines()[1:] if os.path.exists("/proc/sysvipc/shm") else []:
    found.append(line)
for path in paths:
    open(path, "w").write("x")
random.left = 1
sys.modules["left_behind"] = random
os.environ["LEFT"] = "1"
import ctypes
ctypes.CDLL(None).shmget(77, 4096, 0o1666)
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\\0left")
found`
    for (let turn = 0; turn < 3; turn++) assert.deepEqual(await ask(traces), [])
    const [one, other] = [await park(), await park()]
    assert.deepEqual([(await one.run(traces)).value, (await other.run(traces)).value], [[], []])
  })

  it('get the environment of their own request', async () => {
    const guest = await park(defaultLimits, { env: { TZ: 'Asia/Tokyo', WHO: 'ü' } })
    const { value } = await guest.run(
      'import os, time\n[os.environ["WHO"], time.tzname[0], os.getenv("OMP_NUM_THREADS")]',
    )
    assert.deepEqual(value, ['ü', 'JST', null])
  })

  it('have different random numbers', async () => {
    const code = `import os, random, uuid, tempfile, ssl, sys
drawn = [random.random(), random.SystemRandom().random(), str(uuid.uuid4()), tempfile.mktemp(), ssl.RAND_bytes(16).hex(),
         os.urandom(16).hex(), str(uuid.uuid1())]
if "numpy" in sys.modules:
    import numpy
    drawn += [float(numpy.random.rand()), float(numpy.random.default_rng().random())]
drawn`
    const draws = [
      (await ask(code)) as unknown[],
      (await ask(code)) as unknown[],
      (await ask(code)) as unknown[],
    ]
    const all = draws.flat()
    assert.equal(new Set(all).size, all.length, JSON.stringify(draws))
  })

  it('end by signals like other processes, and their orphans are reaped', async () => {
    const killed = await park()
    await killed.run('import os\nos.kill(os.getpid(), 9)')
    assert.deepEqual((await killed.exited).end, { by: 'signal', signal: 'SIGKILL' })
    const failing = await park()
    await failing.run('import sys\nsys.exit(7)')
    assert.deepEqual((await failing.exited).end, { by: 'exit', exitCode: 7 })
    const orphans = `import os, time
if os.fork() == 0:
    if os.fork() == 0:
        os._exit(3)
    os._exit(0)
os.wait()
for _ in range(500):
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(pids) == 2:
        break
    time.sleep(0.01)
len(pids)`
    assert.equal(await ask(orphans), 2)
  })

  it('print, fail and handle Ctrl-C like other programs', async () => {
    const printing = await park()
    await printing.run('import sys\nprint("out")\nprint("err", file=sys.stderr)')
    assert.deepEqual([printing.output.includes('out\n'), printing.output.includes('err\n')], [true, true])
    const failing = await park()
    const { messages } = await failing.run('def f():\n    1 / 0\nf()')
    const { error } = messages.find(({ type }) => type === 'error') as { error: Record<string, unknown> }
    assert.equal(error['name'], 'ZeroDivisionError')
    assert.match(failing.output, /File "<code>", line 2, in f/)
    assert.doesNotMatch(failing.output, /guest_/)
    const interrupted = await park()
    await interrupted.run('import os, signal\nos.kill(os.getpid(), signal.SIGINT)')
    assert.deepEqual((await interrupted.exited).end, { by: 'exit', exitCode: 130 })
  })

  it('can start threads, programs and processes', async () => {
    const code = `import subprocess, threading, multiprocessing
seen = []
thread = threading.Thread(target=lambda: seen.append("thread"))
thread.start(); thread.join()
seen.append(subprocess.run(["sh", "-c", "echo $((6 * 7))"], capture_output=True, text=True).stdout)
with multiprocessing.get_context("fork").Pool(2) as pool:
    seen += pool.map(abs, [-1, -2])
seen`
    assert.deepEqual(await ask(code), ['thread', '42\n', 1, 2])
  })

  it('reach no other process: not the zygote, pid 1 or a sibling', async () => {
    const sibling = await park()
    const code = `import os, ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def attempt(action, *arguments):
    try:
        return repr(action(*arguments))
    except OSError as error:
        return errno.errorcode[error.errno]
def call(number, *arguments):
    return "done" if libc.syscall(number, *arguments) >= 0 else errno.errorcode[ctypes.get_errno()]
reached = []
for pid in range(1, 300):
    if pid == os.getpid():
        continue
    for path in ("environ", "mem", "maps", "fd", "root", "cwd", "exe", "ns/pid"):
        try:
            (os.listdir if path == "fd" else os.readlink if path in ("root", "cwd", "exe", "ns/pid") else lambda p: open(p, "rb").read(1))(f"/proc/{pid}/{path}")
            reached.append((pid, path))
        except OSError:
            pass
    try:
        os.kill(pid, 9)
        if pid != 1:
            reached.append((pid, "kill"))
    except OSError:
        pass
    for name, number in (("ptrace", 101), ("process_vm_readv", 310)):
        if call(number, 16 if number == 101 else pid, pid if number == 101 else 0, 0, 0, 0, 0) == "done":
            reached.append((pid, name))
[reached, call(308, 3, 0), call(272, 0x10000000), call(161, b"/tmp"), call(165, b"x", b"/tmp", b"tmpfs", 0, 0),
 attempt(os.setuid, 0), attempt(os.listdir, "/cell")]`
    if (process.arch !== 'x64') return
    const [reached, ...refusals] = (await ask(code)) as [unknown[], ...string[]]
    assert.deepEqual(reached, [])
    const noSuchId = machine.identity === 'own' ? 'EPERM' : 'EINVAL'
    assert.deepEqual(refusals, ['EPERM', 'EPERM', 'EPERM', 'EPERM', noSuchId, 'ENOENT'])
    assert.equal((await sibling.run('1')).value, 1)
    assert.ok(zygote.alive)
  })

  it('have separate limits', async (t) => {
    const limits = { ...defaultLimits, memoryBytes: 64 * MiB, wallMs: ampleMs }
    const [greedy, sibling] = [await park(limits), await park(limits)]
    await greedy.run('x = []\nwhile True:\n    x.append(bytearray(1 << 20))')
    const { cgroup } = greedy.built.ground
    if (cgroup !== null) {
      assert.ok(cgroup.oomKills() > 0)
      assert.deepEqual((await greedy.exited).end, { by: 'signal', signal: 'SIGKILL' })
      assert.equal(sibling.built.ground.cgroup?.oomKills(), 0)
    } else {
      t.diagnostic(`without cgroups: ${JSON.stringify(greedy.exceeded)}`)
    }
    assert.equal((await sibling.run('2')).value, 2)
    const forking = await park({ ...defaultLimits, processesMax: 8 })
    const isCounted = machine.identity === 'own'
    const { value } = await forking.run(
      'import os, time\nn = 0\ntry:\n    while n < 100:\n        if os.fork() == 0:\n            os.close(3)\n            time.sleep(60)\n        n += 1\nexcept OSError:\n    pass\nn',
    )
    // If all guests have one id, the watchdog counts processes, and ends a guest with too many.
    if (isCounted) assert.ok(Number(value) <= 8, String(value))
    else assert.deepEqual([value, forking.exceeded], [undefined, ['processes']])
  })

  it('get the limits of their run, even if they were parked long before', async () => {
    const guest = await park()
    const begun = Promise.withResolvers<string>()
    const exited = Promise.withResolvers<ProcessReport>()
    const listener = {
      onSpawned: begun.resolve,
      onOutput: () => undefined,
      onExceeded: () => undefined,
      onUsage: () => undefined,
      onExit: exited.resolve,
    }
    const files = { resource: 7, soft: 20, hard: 20 }
    const spec = {
      rlimits: [files],
      stdin: Buffer.alloc(0),
      outputBytes: 1000,
      wallMs: ampleMs,
      watched: unwatched,
      work: null,
      resized: sizedMounts(ownView, MiB),
    }
    const onFailure = (failure: unknown) => begun.reject(failure)
    assert.ok(guest.built.cell.begin(guest.id, spec, { listener, onFailure }))
    await begun.promise
    void exited.promise.then(() => guest.built.cell.end())
    const { channel } = guest.built.cell
    const answer = once(channel as Duplex, 'data')
    const code = `import os, resource
[resource.getrlimit(resource.RLIMIT_NOFILE)[1], *(os.statvfs(path).f_blocks * 4096 for path in ("/tmp", "/workspace"))]`
    channel?.write(encodeGuestRequest({ language: 'python', code, args: [], resultBytes: 1000 }))
    const [bytes] = (await answer) as [Buffer]
    assert.match(bytes.toString(), /"value":\[20,1048576,1048576\]/)
    await exited.promise
  })

  it('that are killed while parked leave room for others', async () => {
    for (let turn = 0; turn < 6; turn++) {
      const guest = await ParkedGuest.park(zygote)
      if (turn % 2 === 0) await guest.built.cell.killGuests()
      await guest[Symbol.asyncDispose]()
    }
    for (let turn = 0; turn < 6; turn++) await (await zygote.build(defaultLimits)).clean()
    assert.equal(await ask('3'), 3)
  })

  it('are refused when there is no room, and nothing is left of the refusal', async () => {
    for (let count = 0; count < roomMax; count++) await park()
    await assert.rejects(park(), { code: 'CELL_FAILED' })
  })
})
