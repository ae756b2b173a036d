/** Hiding processor time and memory from the count: between two scans, during a long scan, in the kernel. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { areInForks } from '../../support/in-forks.ts'
import { processorPressureMs } from '../../support/machine/processor-pressure.ts'
import { keepMemoryFlat } from '../../support/machine/resident-memory.ts'
import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import type { PatientRun } from '../../support/patient-run.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const MiB = 1024 * 1024

/** Each uses 9 ms, less than the time between two scans, and ends without a parent that waits for it. */
const short = (ignore: string, wait = '') => `
import ctypes, os, signal, struct, time
libc = ctypes.CDLL(None)
${ignore}
born = 0
while True:
    try: child = os.fork()
    except BlockingIOError: # on a busy machine many have not ended yet
        time.sleep(0.01)
        continue
    born += 1
    if child == 0:
        until = time.process_time() + 0.009
        while time.process_time() < until: pass
        os._exit(0)
    print(born, flush=True)
    time.sleep(0.01)
    ${wait}`

const ignored = 'signal.signal(signal.SIGCHLD, signal.SIG_IGN)'
const noWait = `libc.sigaction(17, struct.pack('QQ120xi4x', 0, 0, 2).ljust(152, b'\\0'), None)`
const waitForSome = `
    if born % 8 == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        child = os.fork()
        if child == 0: os._exit(0)
        os.waitpid(child, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)`

for (const [name, code] of Object.entries({
  'SIGCHLD ignored': short(ignored),
  SA_NOCLDWAIT: short(noWait),
  'SIGCHLD ignored but now and then': short(ignored, waitForSome),
})) {
  test(`children that live for 9 ms and are not waited for are counted: ${name}`, async () => {
    const limits = { cpuMs: 1000, processesMax: 64, wallMs: ampleMs }
    const { outcome, usage, stdout } = await guests.run({ ...python, code, limits })
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'cpu', limitMs: 1000 })
    assert.ok(usage.cpuMs >= 900, JSON.stringify(usage))
    const born = Number(stdout.trim().split('\n').at(-1))
    // As many as may exist at one time may not have used their time yet.
    const usedMs = (born - limits.processesMax) * 9
    assert.ok(usedMs <= usage.cpuMs + 100, `${born} children are counted with ${usage.cpuMs} ms`)
  })
}

test('a shell that waits for thousands of short children is charged for exactly what they used', async () => {
  const code = 'for i in {1..600}; do (:); /bin/true; done; times'
  const { outcome, usage, stdout } = await guests.run({ ...shell, code, limits: { cpuMs: 60_000 } })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  const ms = [...stdout.matchAll(/(\d+)m([\d.]+)s/gu)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  )
  assert.ok(Math.abs(usage.cpuMs - ms) < 100 + ms * 0.1, `${usage.cpuMs} ms, the shell says ${ms}`)
})

/** 48 processes that share 48 MiB: the quick sum is above the limit, their real use below it. */
const shared = (end: string) => `
import os, time
held = bytearray(os.urandom(4096)) * (12 * 1024)
for _ in range(48):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
print('all there', flush=True)
${end}`

test('processes that share much memory are measured, their run is punctual, and its output and usage are kept', async () => {
  const limits = { memoryBytes: 256 * MiB, processesMax: 64 }
  const code = shared('while True: time.sleep(0.2); print("tick", flush=True)')
  let pressedMs = 0
  const runPressed = async (request: RunRequest) => {
    const before = processorPressureMs()
    const result = await guests.run(request)
    pressedMs = processorPressureMs() - before
    return result
  }
  const isPunctual = (one: PatientRun) => one.result.usage.wallMs - pressedMs < one.wallMs + 500
  const { result, wallMs } = await runPatiently(
    runPressed,
    { ...python, code, limits },
    (one) => one.result.stdout.includes('tick\ntick') && isPunctual(one),
  )
  const { outcome, usage, stdout } = result
  assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
  assert.match(stdout, /^all there\ntick\n/u)
  assert.ok(usage.cpuMs > 0, 'the time that it used')
  const peak = usage.memoryPeakBytes / MiB
  assert.ok(peak > 48 && peak <= 256, `${peak} MiB`)
  assert.ok(isPunctual({ result, wallMs }), `${usage.wallMs} ms, ${pressedMs} ms of them without a processor`)
})

test('processes that stop sharing exceed the limit', async () => {
  const limits = { memoryBytes: 256 * MiB, processesMax: 64, wallMs: ampleMs }
  const code = `
import os, time
held = bytearray(os.urandom(4096)) * (12 * 1024)
for number in range(16):
    if os.fork() == 0:
        time.sleep(0.2 + number / 20)
        for at in range(0, len(held), 4096): held[at] = number
        time.sleep(30)
time.sleep(30)`
  const { outcome } = await keepMemoryFlat(() => guests.run({ ...python, code, limits }))
  assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
})

/** One page each, every other one unreadable, because the kernel only merges equal neighbours. */
const mappings = `
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def map():
    start = libc.mmap(None, 60_000 * 4096, 0, 0x2 | 0x20 | 0x4000, -1, 0)
    for at in range(0, 60_000 * 4096, 8192): libc.mprotect(start + at, 4096, 1)
    time.sleep(12) # somebody looks every 5 s, and sooner when the slab of the machine has grown
    os._exit(0)
`
const inMany = `
for _ in range(9):
    if os.fork() == 0: break
`
const hidings = {
  'in many processes': `${mappings}${inMany}map()`,
  'in processes that want no core': `${mappings}${inMany}
libc.prctl(4, 0, 0, 0, 0)
map()`,
  'in processes without a first thread': `${mappings}${inMany}
threading.Thread(target=map).start()
libc.syscall(60, 0)`,
  'in processes whose program nobody may read': `
import os, sys
program = os.open('hidden', os.O_WRONLY | os.O_CREAT, 0o111)
os.write(program, open(sys.executable, 'rb').read())
os.close(program)
code = ${JSON.stringify(`${mappings}map()`)}
for _ in range(9):
    if os.fork() == 0: os.execve('./hidden', ['python3', '-c', code], {'PYTHONHOME': sys.base_prefix})
try:
    while True: os.wait()
except ChildProcessError: pass`,
}

for (const [where, code] of Object.entries(hidings)) {
  test(`mappings ${where} count as memory`, async () => {
    const limits = { memoryBytes: 96 * MiB, processesMax: 24, wallMs: ampleMs }
    const { outcome, usage } = await guests.run({ ...python, code, limits })
    // The kernel chooses the process to kill in a full cgroup; a fork shares most memory with its zygote, so often its child.
    if (areInForks && guests.heldByCgroup && outcome.kind === 'completed')
      assert.equal(usage.memoryPeakBytes, limits.memoryBytes)
    else assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
  })
}
