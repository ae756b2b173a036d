/** Runs that refuse to end, leave something behind or hoard what the machine has: each with its own right outcome. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'

import { bun, completes, node, pick, python, shell } from './case.ts'
import type { Dialect, Draft, Guest, Kind, Ticket } from './case.ts'

const plainGuests: readonly Guest[] = [shell, python, bun, node]
/** The deadline of programs that only the host can end. It is long enough for every runtime to start beside many others. */
const deadline = { leastMs: 1500, spreadMs: 500 }
/** The result of a program that has ended arrives at once, whatever it left behind. This is its wall limit. */
const patientMs = 60_000

/** A program that prints one line, and runs until the host ends it. */
function endless(programs: Readonly<Record<Dialect, string>>): Kind['draft'] {
  return ({ dialect }, { random }) => {
    const wallMs = deadline.leastMs + pick(random, deadline.spreadMs)
    return {
      request: { code: programs[dialect], limits: { wallMs } },
      check: ({ outcome, stdout, usage }) => {
        deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
        ok(usage.wallMs >= wallMs, `it ended ${wallMs - usage.wallMs} ms early`)
        equal(stdout, 'up\n')
      },
    }
  }
}

const loop = endless({
  shell: 'echo up; while :; do :; done',
  python: 'print("up", flush=True)\nwhile True: pass',
  javascript: `console.log('up'); for (;;);`,
})

const trappedSignals = endless({
  shell: `trap '' TERM INT ALRM HUP XCPU QUIT USR1; echo up; while :; do sleep 1; done`,
  python: `import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
print('up', flush=True)
while True: signal.pause()`,
  javascript: `for (const name of ['SIGTERM', 'SIGINT', 'SIGALRM', 'SIGHUP', 'SIGXCPU', 'SIGUSR2']) process.on(name, () => {})
console.log('up'); setInterval(() => {}, 1000)`,
})

const stopsItself = endless({
  shell: 'echo up; kill -STOP $$; echo down',
  python: 'import os\nprint("up", flush=True)\nos.kill(os.getpid(), 19)\nprint("down")',
  javascript: `console.log('up'); process.kill(process.pid, 'SIGSTOP')`,
})

const closedPipes = endless({
  shell: 'echo up; exec >&- 2>&-; while :; do sleep 1; done',
  python: 'import os, time\nprint("up", flush=True)\nos.closerange(0, 256)\ntime.sleep(60)',
  javascript: `console.log('up'); const fs = await import('node:fs')
fs.closeSync(1); fs.closeSync(2); setInterval(() => {}, 1000)`,
})

/** Loops in native code, where no handler of the language runs. */
const nativeLoop = endless({
  shell: `echo up; exec awk 'BEGIN { for (;;); }'`,
  python: `import re\nprint('up', flush=True)\nre.match('(a+)+$', 'a' * 60 + 'b')`,
  javascript: `console.log('up'); /^(a+)+$/.test('a'.repeat(60) + 'b'); for (;;);`,
})

/** Several threads or processes that compute at one time. */
const manyThreads: Record<Dialect, string> = {
  shell: 'for n in 1 2 3; do (while :; do :; done) & done; wait',
  python: `import hashlib, threading
def burn():
    while True: hashlib.pbkdf2_hmac('sha256', b'a', b'b', 100000)
for _ in range(3): threading.Thread(target=burn).start()`,
  javascript: `const { Worker } = await import('node:worker_threads')
for (let n = 0; n < 3; n++) new Worker('for (;;);', { eval: true })`,
}

function manyBurn({ dialect }: Guest, { random }: Ticket): Draft {
  const cpuMs = 200 + pick(random, 100)
  return {
    request: { code: manyThreads[dialect], limits: { cpuMs, processesMax: 60, wallMs: patientMs } },
    check: ({ outcome }) => deepEqual(outcome, { kind: 'timed-out', limit: 'cpu', limitMs: cpuMs }),
  }
}

/** They take every process that they can get, for as long as they may run. */
const forkForEver: Record<Dialect, string> = {
  shell: 'echo up; bomb() { bomb | bomb & bomb | bomb & wait; }; bomb 2>/dev/null',
  python: `import os
print('up', flush=True)
while True:
    try: os.fork()
    except OSError: pass`,
  javascript: '',
}

function forkBomb({ dialect }: Guest, { random, machine }: Ticket): Draft {
  const limits = { processesMax: 8 + pick(random, 24), wallMs: deadline.leastMs }
  return {
    request: { code: forkForEver[dialect], limits },
    check: ({ outcome, stdout }) => {
      equal(stdout, 'up\n')
      // A watchdog, which counts periodically, ends it; a kernel that refuses the forks lets it try until its deadline.
      if (outcome.kind !== 'limit-exceeded' || machine.forksAreRefused)
        deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: limits.wallMs })
      else deepEqual([outcome.limit, outcome.allowed], ['processes', limits.processesMax])
    },
  }
}

/** A process with its own session and parent, which ignores SIGTERM and similar signals. */
const daemons: Record<Dialect, (token: string) => string> = {
  shell: (token) => `(setsid sh -c "trap '' TERM INT HUP QUIT; while :; do sleep 1; done" &)
(setsid sh -c 'sleep 100' >/dev/null 2>&1 </dev/null &)
echo ${token}`,
  python: (token) => `import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0: os._exit(0)
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True: time.sleep(1)
print('${token}')`,
  javascript: (token) => `const { spawn } = await import('node:child_process')
const script = "trap '' TERM INT HUP QUIT; while :; do sleep 1; done"
spawn('setsid', ['sh', '-c', script], { detached: true, stdio: 'inherit' }).unref()
console.log('${token}')`,
}

/** A child that keeps the program's own stdout open. */
const heldPipes: Record<Dialect, (token: string) => string> = {
  shell: (token) => `sh -c 'trap "" TERM; sleep 100' & echo ${token}`,
  python: (token) => `import subprocess
subprocess.Popen(['sleep', '100'], close_fds=False)
print('${token}')`,
  javascript: (token) => `const { spawn } = await import('node:child_process')
spawn('sleep', ['100'], { stdio: 'inherit' }).unref()
console.log('${token}')`,
}

/** A program that ends normally, and leaves something running. */
function leaves(programs: Readonly<Record<Dialect, (token: string) => string>>): Kind['draft'] {
  return ({ dialect }, { token }) => ({
    request: { code: programs[dialect](token), limits: { wallMs: patientMs } },
    check: (result) => {
      completes(result, { stdout: `${token}\n` })
      ok(result.usage.wallMs < patientMs / 2, `it took ${result.usage.wallMs} ms`)
    },
  })
}

const openForEver: Record<Dialect, string> = {
  shell: 'while exec {fd}</dev/null; do :; done',
  python: 'a = []\nwhile True: a.append(open("/dev/null"))',
  javascript: `const { openSync } = await import('node:fs'); for (;;) openSync('/dev/null')`,
}

/** The kernel refuses the next descriptor, and the language says so in its own way. */
function descriptors({ dialect }: Guest, { random }: Ticket): Draft {
  return {
    request: { code: openForEver[dialect], limits: { openFilesMax: 100 + pick(random, 100) } },
    check: ({ outcome, stderr }) => {
      match(stderr, /Too many open files|EMFILE/i)
      equal(outcome.kind, dialect === 'shell' ? 'completed' : 'failed')
    },
  }
}

export const hostileKinds: readonly Kind[] = [
  { name: 'endless loop', copies: 1, guests: plainGuests, draft: loop },
  { name: 'native loop', copies: 1, guests: [shell, python, node], draft: nativeLoop },
  { name: 'trapped signals', copies: 1, guests: plainGuests, draft: trappedSignals },
  { name: 'stops itself', copies: 1, guests: plainGuests, draft: stopsItself },
  { name: 'closed pipes', copies: 1, guests: [shell, python, node], draft: closedPipes },
  { name: 'many threads', copies: 1, guests: plainGuests, draft: manyBurn },
  { name: 'endless fork bomb', copies: 1, guests: [shell, python], draft: forkBomb },
  { name: 'daemons', copies: 1, guests: plainGuests, draft: leaves(daemons) },
  { name: 'held pipes', copies: 1, guests: plainGuests, draft: leaves(heldPipes) },
  { name: 'leaked descriptors', copies: 1, guests: plainGuests, draft: descriptors },
]
