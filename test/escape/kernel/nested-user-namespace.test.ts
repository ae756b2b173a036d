/** A guest's own user namespace would give it capabilities, and with them access to most kernel bugs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

test('shell: unshare creates no namespace of any kind', async () => {
  const code = `for flag in U m p n i u C T Ur Urm Urpf; do unshare -$flag true 2>/dev/null && echo "made $flag"; done; nsenter -t 1 -a true 2>/dev/null && echo entered; exit 0`
  const { outcome, stdout } = await guests.run({ ...shell, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.equal(stdout, '')
})

test('python: a thread, a child or a re-executed program creates none, even after chdir and chroot tricks', async () => {
  const code = `${pythonSyscalls}
import subprocess, threading
answers = []
attempt = lambda: answers.append(call('unshare', 0x10000000))
attempt()
thread = threading.Thread(target=attempt); thread.start(); thread.join()
os.chdir('/'); attempt()
answers.append(call('chroot', b'/'))
child = subprocess.run([sys.executable, '-I', '-S', '-c', 'import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.unshare(0x10000000), ctypes.get_errno())'], capture_output=True, text=True)
answers.append(child.stdout.strip())
answers.append(open('/proc/self/uid_map').read().count('\\n'))
print(json.dumps(answers))`
  const { stdout, stderr, receipt } = await guests.run({ ...python, code })
  // A guest with ids of its own has them besides the launcher's.
  const hasIds = ['own-uid', 'user-namespace'].every((layer) => receipt.layers.includes(layer))
  const maps = hasIds ? 2 : 1
  assert.deepEqual(JSON.parse(stdout), ['EPERM', 'EPERM', 'EPERM', 'EPERM', '-1 1', maps], stderr)
})

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: a child that should start in its own namespace does not start`, async () => {
    const code = `const { spawnSync } = await import('node:child_process'); console.log(spawnSync('unshare', ['-Ur', 'id', '-u']).stdout.toString())`
    assert.equal((await guests.run({ ...runtime, code })).stdout.trim(), '')
  })
}
