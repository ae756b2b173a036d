/** Ctrl-C while code does not run in its interpreter: the state stays, or the answer says that it is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describeContexts, interruptAtOutput, valueOf } from './use-contexts.ts'

type Cases = Readonly<Record<string, string>>

/** Each would run for a minute. */
const interruptible: Readonly<Record<'python' | 'javascript', Cases>> = {
  python: {
    'a loop': 'print("ready")\nwhile True: pass',
    'a sleep': 'import time\nprint("ready")\ntime.sleep(60)',
    'the join of a thread that sleeps':
      'import threading, time\nt = threading.Thread(target=time.sleep, args=(60,), daemon=True)\nt.start()\nprint("ready")\nt.join()',
    'the join of a thread that computes':
      'import threading, time\nuntil = time.time() + 60\ndef work():\n    while time.time() < until: pass\nt = threading.Thread(target=work, daemon=True)\nt.start()\nprint("ready")\ntry:\n    t.join()\nfinally:\n    until = 0',
    'the results of a pool of threads':
      'import concurrent.futures, threading\nstop = threading.Event()\npool = concurrent.futures.ThreadPoolExecutor(4)\njobs = [pool.submit(stop.wait, 60) for _ in range(4)]\nprint("ready")\ntry:\n    [job.result() for job in jobs]\nfinally:\n    stop.set()',
    'an event that nobody sets': 'import threading\nprint("ready")\nthreading.Event().wait()',
    'a lock that another thread holds':
      'import threading, time\nlock = threading.Lock()\nlock.acquire()\nprint("ready")\nlock.acquire()',
    'awaiting what never comes': 'import asyncio\nprint("ready")\nawait asyncio.Event().wait()',
    'awaiting a thread':
      'import asyncio, threading\nstop = threading.Event()\nprint("ready")\ntry:\n    await asyncio.to_thread(stop.wait, 60)\nfinally:\n    stop.set()',
    'a program': 'import subprocess\nsubprocess.run(["sh", "-c", "echo ready; exec sleep 60"])',
    'reading a pipe': 'import os\nr, w = os.pipe()\nprint("ready")\nos.read(r, 1)',
  },
  javascript: {
    'a loop': 'console.log("ready"); for (;;);',
    'awaiting what never comes': 'console.log("ready"); await new Promise(() => {})',
    'awaiting what nothing else refers to, amid a collection':
      'require("node:v8").setFlagsFromString("--expose-gc"); const gc = require("node:vm").runInNewContext("gc"); setTimeout(() => { gc(); console.log("ready") }, 1); await new Promise(() => {})',
    'a loop in a callback of a timer':
      'setTimeout(() => { console.log("ready"); for (;;); }); await new Promise(() => {})',
    'awaiting a timer': 'console.log("ready"); await new Promise((done) => setTimeout(done, 60000))',
    'a wait that blocks':
      'console.log("ready"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
    'a program': 'require("node:child_process").execSync("echo ready; exec sleep 60", { stdio: "inherit" })',
    'a regular expression': 'console.log("ready"); /^(a+)+$/.test("a".repeat(64) + "!")',
    'awaiting a thread that computes':
      'const { Worker } = require("node:worker_threads"); const worker = new Worker("for (;;);", { eval: true }); console.log("ready"); await new Promise((done) => worker.on("exit", done))',
  },
}

const set = { python: 'x = 1', javascript: 'let x = 1' } as const

await describeContexts((sandbox) => {
  for (const language of ['python', 'javascript'] as const)
    for (const [what, code] of Object.entries(interruptible[language]))
      test(`${language}: ${what} is interrupted at once, and the state is kept`, async () => {
        const context = await sandbox.createCodeContext({ language })
        await valueOf(context.runCode(set[language]))
        const { result, ms } = await interruptAtOutput(context, code)
        assert.deepEqual(result.outcome, { kind: 'cancelled' }, result.stderr)
        assert.match(result.note ?? '', /interrupted.*still there/)
        // The clock of these tests repeats the interrupt after three seconds if the first one was lost.
        assert.ok(ms < 2500, `${ms} ms`)
        assert.equal(await valueOf(context.runCode('x')), 1)
        await sandbox.deleteCodeContext(context.id)
      })
})
