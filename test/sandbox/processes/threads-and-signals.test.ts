/** A signal to a process with several threads: its main thread gets it, unless another one waits for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useSandbox } from '../use-sandbox.ts'

const { sandbox } = await useSandbox()

/** Each ends when it has received the signal. */
const programs = {
  'the main thread waits for others, as Python does with `result()`': `
import concurrent.futures, sys, threading
stop = threading.Event()
pool = concurrent.futures.ThreadPoolExecutor(4)
jobs = [pool.submit(stop.wait, 600) for _ in range(4)]
print("ready", flush=True)
try: [job.result() for job in jobs]
except KeyboardInterrupt: print("heard", flush=True)
stop.set()`,
  'the main thread blocks it, and another one waits for it': `
import signal, threading
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
def hear():
    signal.sigwait({signal.SIGINT})
    print("heard", flush=True)
thread = threading.Thread(target=hear)
thread.start()
print("ready", flush=True)
thread.join()`,
  'the main thread has ended, and another one goes on': `
import ctypes, os, platform, signal, threading, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
def hear():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z": time.sleep(0.01)
    print("ready", flush=True)
    signal.sigwait({signal.SIGINT})
    print("heard", flush=True)
    os._exit(0)
threading.Thread(target=hear).start()
# exit(2) of this thread alone.
ctypes.CDLL(None).syscall(93 if platform.machine() == "aarch64" else 60, 0)`,
} as const

for (const [what, program] of Object.entries(programs))
  test(`${what}: the signal arrives at once`, async () => {
    await sandbox.writeFile('/workspace/program.py', program)
    const process = await sandbox.startProcess('exec python3 program.py', { timeout: 60_000 })
    await process.waitForLog('ready')
    process.kill('SIGINT')
    await process.waitForLog('heard', { timeout: 20_000 })
    assert.equal((await process.waitForExit()).exitCode, 0)
  })
