/**
 * Killing, stopping, tracing, limiting and seeing processes outside the user space: its pid 1, the control space above
 * it, a secure space beside it. One command of a sandbox tries this while others run.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { attackPid1 } from '../../support/hostile/attack-pid-1.ts'
import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { openTarget } from '../../support/target-sandbox.ts'
import type { TargetSandbox } from '../../support/target-sandbox.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const python = (code: string) => `exec python3 - <<'end of code'\n${code}\nend of code`

/** A secure command under constant attack, which finally reports whether it was disturbed. */
async function whileSecureRuns<T>({ sandbox }: TargetSandbox, attack: () => Promise<T>): Promise<T> {
  const ready = Promise.withResolvers<void>()
  const secure = sandbox.exec('echo ready; until [ -e over ]; do sleep 0.02; done; echo $SECRET; rm over', {
    env: { SECRET: 'kept' },
    onOutput: () => ready.resolve(),
  })
  await Promise.race([ready.promise, secure])
  try {
    return await attack()
  } finally {
    await sandbox.exec('touch over', { sessionId: (await sandbox.createSession()).id })
    const { stdout, outcome } = await secure
    assert.deepEqual([stdout, outcome], ['ready\nkept\n', { kind: 'completed', exitCode: 0 }])
  }
}

const signals = {
  'kill -9 -1': 'kill -9 -1',
  'every signal to pid 1':
    'for n in {1..31} {34..64}; do kill -$n 1 2>/dev/null && echo $n reached 1; done | grep -vc reached; :',
  'SIGSTOP to pid 1 and to everybody': 'kill -STOP 1; kill -STOP -1; kill -TSTP -1',
  pkill: 'pkill -9 .; pkill -9 cell; pkill -9 -u root; killall5 -9; pkill -STOP -P 0; :',
  'each pid there can be': 'for ((n = 32768; n > 0; n--)); do [ $n = $$ ] || kill -9 $n; done 2>/dev/null; :',
  'each process group': 'for ((n = 2000; n > 0; n--)); do [ $n = $$ ] || kill -9 -- -$n; done 2>/dev/null; :',
}

for (const [name, command] of Object.entries(signals)) {
  test(`signals: ${name}`, async () => {
    await using target = await openTarget(guests)
    await whileSecureRuns(target, () => target.attack(command))
    await target.requireUnharmed()
    await target.attack(`while :; do ${command}; done`, 200)
    await target.requireUnharmed()
  })
}

test('pid 1 cannot be signalled by pidfd, traced, read, limited, reniced, pinned or marked for the oom killer', async () => {
  await using target = await openTarget(guests)
  const attack = () => target.sandbox.exec(python(attackPid1))
  const { stdout, stderr } = await whileSecureRuns(target, attack)
  const { state, allowed } = JSON.parse(stdout) as { state: string; allowed: unknown }
  assert.deepEqual(allowed, [], stderr)
  assert.ok(['R', 'S'].includes(state), `pid 1 neither runs nor sleeps, but is ${state}`)
  await target.requireUnharmed()
})

test('nothing but the user space is seen: not control, not a secure command, not their folders or namespaces', async () => {
  await using target = await openTarget(guests)
  const code = `${pythonSyscalls}
seen, probed = [], []
for pid in range(1, 32769):
    if pid in (1, os.getpid(), os.getppid()): continue
    if call('kill', pid, 0) != 'ESRCH': probed.append(pid)
    if call('pidfd_open', pid, 0) == 'ok': probed.append(pid)
for pid in filter(str.isdigit, os.listdir('/proc')):
    try: seen.append(open('/proc/%s/comm' % pid).read().strip())
    except OSError: pass
levels = [line for line in open('/proc/1/status') if line.startswith(('NSpid', 'NSpgid', 'PPid'))]
print(json.dumps({'seen': sorted(set(seen)), 'probed': len(set(probed)), 'levels': levels, 'cgroup': open('/proc/self/cgroup').read(), 'homes': sorted(set(os.listdir(os.environ['HOME'])) - {'.local'})}))`
  const { stdout, stderr } = await whileSecureRuns(target, () => target.sandbox.exec(python(code)))
  assert.equal(stderr, '')
  const found = JSON.parse(stdout) as Record<string, unknown>
  assert.deepEqual(found['seen'], ['bash', 'cell', 'python3'])
  assert.deepEqual(found['levels'], ['PPid:\t0\n', 'NSpid:\t1\n', 'NSpgid:\t0\n'])
  assert.deepEqual(found['homes'], [])
  // The shells that wait for the next commands of three sessions.
  assert.ok(Number(found['probed']) <= 3, stdout)
  assert.doesNotMatch(String(found['cgroup']), /lazaret|cell/)
})

test('no namespace is made, entered or left, nothing is mounted, no root changed, no setting of the kernel written', async () => {
  await using target = await openTarget(guests)
  const code = `${pythonSyscalls}
answers = {}
flags = (0x20000, 0x80, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x7e020080)
for flag in flags:
    answers['unshare %x' % flag] = call('unshare', flag)
    answers['clone %x' % flag] = call('clone', flag & ~0x80 | 0x20000 | 17, 0, 0, 0, 0)
for pid in ('1', 'self'):
    for name in os.listdir('/proc/self/ns'):
        try: fd = os.open('/proc/%s/ns/%s' % (pid, name), os.O_RDONLY)
        except OSError: continue
        answers['setns ' + name] = call('setns', fd, 0)
answers['mount'] = call('mount', b'none', b'/tmp', b'tmpfs', 0, None)
answers['bind'] = call('mount', b'/proc', b'/workspace', None, 4096, None)
answers['remount'] = call('mount', None, b'/', None, 32, None)
answers['umount'] = call('umount2', b'/proc/sys', 2)
for name in ('chroot', 'fsopen'): answers[name] = call(name, b'/workspace', 0)
answers['pivot_root'] = call('pivot_root', b'/workspace', b'/workspace')
answers['open_tree'] = call('open_tree', -100, b'/workspace', 1)
answers['move_mount'] = call('move_mount', -100, b'/workspace', -100, b'/tmp', 0)
answers['sethostname'] = call('sethostname', b'x', 1)
written = []
for root, folders, names in os.walk('/proc/sys'):
    for name in names:
        try: os.close(os.open(os.path.join(root, name), os.O_WRONLY)); written.append(name)
        except OSError: pass
print(json.dumps({'allowed': [name for name, answer in answers.items() if answer != 'EPERM'], 'written': written}))`
  const { stdout, stderr } = await target.sandbox.exec(python(code))
  assert.deepEqual(JSON.parse(stdout), { allowed: [], written: [] }, stderr)
  await target.requireUnharmed()
})
