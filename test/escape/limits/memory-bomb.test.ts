/** Memory bombs: touch more than the limit, in one process and in many, by every means of a runtime. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepMemoryFlat } from '../../support/machine/resident-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const MiB = 1024 * 1024
const limits = { memoryBytes: 128 * MiB, wallMs: ampleMs }

/** Two of many bombs; memory-bombs-of-engines has the others. */
const anyEngine = {
  'array growth': 'const a = []; for (;;) a.push({ n: a.length })',
  'typed arrays': 'const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))',
}

const anyPython = {
  'bytes doubling': `b = b'x' * (1 << 20)\nkept = []\nwhile True:\n    b += b\n    kept.append(bytes(b))`,
  'a list that is multiplied': 'a = [0]\nwhile True: a *= 2',
  'whole numbers': 'a = []\nwhile True: a.append((1 << (1 << 23)) + len(a))',
  'text of wide characters': `a = []\nwhile True: a.append('\\U0001f600' * (1 << 18) + str(len(a)))`,
  'dictionaries and sets': 'd = {}\ns = set()\nwhile True:\n    d[len(d)] = [len(d)]\n    s.add(str(len(d)))',
  'regular expressions': `import re\na = []\nwhile True: a.append(re.findall('a', 'a' * 100000 + str(len(a))) + [re.sub('a', 'bb', 'a' * 100000)])`,
  'small objects': 'a = []\nwhile True: a.append([len(a)])',
  'private mappings':
    'import mmap\nkept = []\nwhile True:\n    m = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE)\n    m.write(b"x" * (1 << 20))\n    kept.append(m)',
}

const anyShell = {
  'a variable': 'x=$(head -c 400000000 /dev/zero | tr "\\0" x)\nexit $((${#x} > 0))',
  'a line without an end': 'exec tail /dev/zero',
}

const attacks = [
  ...Object.entries(anyShell).map(([name, code]) => ({ name: `shell: ${name}`, ...shell, code })),
  ...Object.entries(anyPython).map(([name, code]) => ({ name: `python: ${name}`, ...python, code })),
  ...[bun, node].flatMap((runtime) =>
    Object.entries(anyEngine).map(([name, code]) => ({
      name: `${runtime.runtime}: ${name}`,
      ...runtime,
      code,
    })),
  ),
]

for (const { name, ...request } of attacks) {
  test(`${name} is out-of-memory, and the host's own memory stays flat`, async () => {
    const { outcome } = await keepMemoryFlat(() => guests.run({ ...request, limits }))
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
  })
}

const inChildren = `
import os, time
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(40 << 20)
        for at in range(0, len(kept), 4096): kept[at] = 1
        time.sleep(1.5)
        os._exit(0)
while True: os.wait()`

test('python: many children that each stay below the limit are out-of-memory together', async () => {
  const { outcome } = await guests.run({ ...python, code: inChildren, limits })
  // With a cgroup, the kernel kills children, not the parent, until the parent has none to wait for.
  assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
})

const withoutLeader = `
import ctypes, os, platform, threading, time
def grow():
    time.sleep(0.3)
    kept = bytearray(60 << 20)
    for at in range(0, len(kept), 4096): kept[at] = 1
    time.sleep(1.5)
for _ in range(6):
    if os.fork() == 0:
        threading.Thread(target=grow).start()
        ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)
while True: os.wait()`

test('python: processes whose first thread has ended are counted like any other', async () => {
  const { outcome } = await guests.run({ ...python, code: withoutLeader, limits })
  assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
})

test('a program that prints before it runs out of memory keeps what it printed', async () => {
  const { outcome, stdout } = await guests.run({
    ...python,
    code: 'print("before", flush=True)\na = []\nwhile True: a.append(b"x" * 4096 + bytes(len(a) % 7))',
    limits,
  })
  assert.equal(outcome.kind, 'out-of-memory')
  assert.equal(stdout, 'before\n')
})
