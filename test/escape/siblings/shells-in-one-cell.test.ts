/**
 * Two shell runs at one time, in spaces of the same cell: one waits, holding all it can, and the other looks for it.
 * Where nothing counts the processes of each run, each has its own cell; the same must be out of reach there.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { RunResult } from '../../../src/index.ts'
import { runParked } from '../../support/run-parked.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret({ pools: {} })
const run = runParked(guests.lazaret, guests.run)
const MiB = 1024 * 1024
const mark = 'held-by-a-sibling'
const skip = guests.level === 'restricted' && 'without namespaces runs see the host’s own files'

/** Holds files, processes and sockets until its stdin ends it, and says when it has them. */
const hold = `
for folder in /tmp /workspace /dev/shm; do echo ${mark} > $folder/${mark}; done
mkfifo /tmp/fifo-${mark}
(exec -a ${mark} sleep 60) &
python3 - <<'PYTHON' &
import ctypes, socket, time
libc = ctypes.CDLL(None)
tcp = socket.create_server(('127.0.0.1', 4242))
abstract = socket.socket(socket.AF_UNIX)
abstract.bind('\\0${mark}')
abstract.listen()
libc.shmget(4242, 4096, 0o1666)
open('/tmp/ready', 'w').close()
time.sleep(60)
PYTHON
until [ -e /tmp/ready ]; do sleep 0.01; done
echo holding
sleep 60`

/** Prints each thing that it reaches. */
const search = `
ls -a /tmp /workspace /dev/shm / | grep ${mark}
cat /proc/[0-9]*/cmdline /proc/net/unix /proc/sysvipc/* 2>/dev/null | tr '\\0' '\\n' | grep -a '${mark.replace('-', '[-]')}' | sort -u
for pid in /proc/[0-9]*; do readlink $pid/root $pid/cwd; done 2>/dev/null | sort -u | grep -v '^/$\\|^/workspace$'
for pid in $(seq 2 80); do
  case " $$ $BASHPID $(cat /proc/$$/task/$$/children) " in *" $pid "*) continue;; esac
  kill -0 $pid 2>/dev/null && [ -e /proc/$pid/cmdline ] && grep -aq ${mark} /proc/$pid/cmdline && echo "signals $pid"
done
(exec 3<>/dev/tcp/127.0.0.1/4242) 2>/dev/null && echo 'its server answers'
python3 - <<'PYTHON'
import ctypes, socket
end = socket.socket(socket.AF_UNIX)
try: end.connect('\\0${mark}'); print('its abstract socket answers')
except OSError: pass
if ctypes.CDLL(None).shmget(4242, 4096, 0o666) >= 0: print('its shared memory is found')
PYTHON
for file in /etc/passwd /etc/hosts /usr /etc /dev /opt/lazaret /; do
  touch $file 2>/dev/null && echo "touches $file"
  mkdir $file/new 2>/dev/null && echo "makes $file/new"
done
umount /proc 2>/dev/null && echo 'unmounts its /proc'
umount /tmp 2>/dev/null && echo 'unmounts its /tmp'
exit 0`

async function besideHolder<T>(
  use: (holder: { readonly stop: AbortController }) => Promise<T>,
): Promise<[T, RunResult]> {
  const stop = new AbortController()
  const holding = Promise.withResolvers<void>()
  const onOutput = ({ text }: { readonly text: string }) =>
    void (text.includes('holding') && holding.resolve())
  const holder = run({
    ...shell,
    code: hold,
    onOutput,
    signal: stop.signal,
    limits: { memoryBytes: 256 * MiB },
  })
  void holder.then(({ stderr, outcome }) => holding.reject(new Error(`${outcome.kind}: ${stderr}`)))
  try {
    await holding.promise
    return [await use({ stop }), await (stop.abort(), holder)]
  } finally {
    stop.abort()
    await holder
  }
}

describe('a shell run beside another', { skip }, () => {
  test('would find what is in reach: a run finds all of it when it holds it itself', async () => {
    const code = `(${hold}) >/dev/null &\nuntil [ -e /tmp/ready ]; do sleep 0.01; done\n${search}`
    const { stdout } = await run({ ...shell, code, limits: { memoryBytes: 256 * MiB } })
    const all = [mark, `fifo-${mark}`, `@${mark}`, 'signals', 'server answers', 'abstract socket']
    // Without a cgroup nobody has shared memory of this kind.
    const expected = guests.heldByCgroup ? [...all, 'shared memory'] : all
    assert.deepEqual(
      expected.filter((one) => !stdout.includes(one)),
      [],
      stdout,
    )
  })

  test('finds no file, process, socket or shared memory of it, and changes nothing of the view', async () => {
    const [found, holder] = await besideHolder(() => run({ ...shell, code: search }))
    assert.deepEqual([found.outcome, found.stdout], [{ kind: 'completed', exitCode: 0 }, ''], found.stderr)
    assert.deepEqual([found.receipt.start, holder.receipt.start], ['parked', 'parked'])
    const [own, others] = [found, holder].map(({ receipt }) => receipt.observed)
    for (const name of ['pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup'])
      assert.notEqual(own?.[`ns_${name}`], others?.[`ns_${name}`], name)
    // Where a cgroup counts, the two are in one cell, and differ in their ids.
    assert.equal(own?.['ns_user'] === others?.['ns_user'], guests.heldByCgroup)
    if (guests.heldByCgroup) assert.notEqual(own?.['Uid'], others?.['Uid'])
  })

  test('has its own limits: a full disk, many processes and much memory of one are not missed by the other', async () => {
    const [ends] = await besideHolder(async () => {
      const limits = { diskBytes: 16 * MiB, processesMax: 12, memoryBytes: 64 * MiB, wallMs: ampleMs }
      const greedy = [
        'head -c 100000000 /dev/zero > /tmp/full; for n in $(seq 40); do sleep 20 & done; sleep 0.2',
        'python3 -c "kept = []\nwhile True: kept.append(bytearray(1 << 20))"',
      ]
      const modest = 'head -c 4000000 /dev/zero > /tmp/some && (sleep 0.05 & sleep 0.05 & wait) && echo fine'
      const runs = [...greedy, modest, modest].map((code) => run({ ...shell, code, limits }))
      return Promise.all(runs)
    })
    for (const { outcome, stdout } of ends.slice(2))
      assert.deepEqual([outcome, stdout], [{ kind: 'completed', exitCode: 0 }, 'fine\n'])
  })

  test('is not ended with it', async () => {
    const [waiter] = await besideHolder(async ({ stop }) => {
      const waiting = run({ ...shell, code: 'sleep 0.5; echo still here' })
      stop.abort()
      return waiting
    })
    assert.equal(waiter.stdout, 'still here\n')
  })
})
