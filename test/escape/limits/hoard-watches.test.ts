/** Watches of epoll: kernel memory, and a per-user budget that guests with the service's uid share with the service. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ampleMs } from '../../support/patient-run.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const memoryBytes = 48 * 1024 * 1024
const limits = { memoryBytes, processesMax: 16, wallMs: ampleMs }

/** A watch stays while its file is open elsewhere, so one file can have many watches, one under each descriptor number. */
const hoard = `
import os, select, time
files = [end for _ in range(30) for end in os.pipe()]
instances = [select.epoll() for _ in range(40)]
def watch(most):
    watches = 0
    for file in files:
        for number in range(150, 250):
            os.dup2(file, number)
            for instance in instances: instance.register(number, select.EPOLLIN)
            os.close(number)
            watches += len(instances)
            if watches >= most: return
`
/** Node aborts if the budget is used up. Processes like this one used up the machine's budget in 13 s. */
const hoards = {
  'in one process': `${hoard}
watch(240_000)
time.sleep(5)`,
  'in instances with few each': `${hoard}
for _ in range(12):
    if os.fork() == 0: break
for instance in instances: instance.close()
instances = [select.epoll() for _ in instances]
watch(40 * 900)
time.sleep(5)
os._exit(0)`,
  'without a first thread': `
import ctypes, threading
def work():${hoard.replaceAll('\n', '\n    ')}
    watch(240_000)
    time.sleep(5)
    os._exit(0)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall(60, 0)`,
}

for (const [name, code] of Object.entries(hoards)) {
  test(`a hoard of watches ${name} is out of memory`, async () => {
    const { outcome } = await guests.run({ ...python, code, limits })
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: memoryBytes })
  })
}

test('programs that watch what they have open, and children that nobody has waited for, are no hoard', async () => {
  const code = `
import os, select, time
for _ in range(8):
    if os.fork() == 0: os._exit(0)
for _ in range(3):
    if os.fork() == 0: break
files = [end for _ in range(100) for end in os.pipe()]
instances = [select.epoll() for _ in range(4)]
for instance in instances:
    for file in files: instance.register(file, 0)
until = time.process_time() + 0.5
while time.process_time() < until: pass`
  const { outcome } = await guests.run({ ...python, code, limits })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
})
