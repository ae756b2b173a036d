/**
 * On most machines the mounts are shared: systemd makes them so. What a cell mounts while its view is built must not appear
 * there: a mount on the host's root keeps every process from making user namespaces.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { checkoutRoot } from '../../support/sources/checkout.ts'

const skip = process.getuid?.() === 0 ? false : 'only root can make a namespace whose mounts are shared'

/** Reports each change of the mounts of its namespace until its input ends: proc_pid_mounts(5). */
const watcher = `
import select, sys
mounts = open('/proc/self/mountinfo')
before = mounts.read()
poll = select.poll()
poll.register(mounts, select.POLLPRI)
poll.register(0, select.POLLIN | select.POLLHUP)
print('watching', flush=True)
while True:
    events = poll.poll()
    if any(fd == mounts.fileno() for fd, _ in events):
        mounts.seek(0)
        new = set(mounts.read().splitlines()) - set(before.splitlines())
        print('changed', *new, flush=True)
    if any(fd == 0 for fd, _ in events): break`

const program = `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'src/index.ts'))}
await using lazaret = createLazaret({ access: { workspaces: [process.argv[2]] } })
await lazaret.run({ language: 'python', code: '' })
const watch = spawn('python3', ['-c', process.argv[1]], { stdio: ['pipe', 'pipe', 'inherit'] })
await once(watch.stdout, 'readable')
const changes = text(watch.stdout)
const runs = Array.from({ length: 4 }, () => lazaret.run({ language: 'python', code: '6 * 7' }))
const ends = (await Promise.allSettled(runs)).map(({ value, reason }) => value?.value ?? String(reason))
await lazaret.warmUp({ language: 'python', count: 2 })
{
  await using sandbox = await lazaret.sandbox({ workspace: process.argv[2] })
  const command = await sandbox.exec('cat there')
  ends.push(command.stdout, (await sandbox.runCode('6 * 7')).value)
}
watch.stdin.end()
process.stdout.write(JSON.stringify({ ends, changes: await changes }))
`

test('what a cell mounts does not appear on a machine whose mounts are shared', { skip }, (context) => {
  const workspace = mkdtempSync(join(tmpdir(), 'lazaret-shared-'))
  context.after(() => rmSync(workspace, { recursive: true }))
  writeFileSync(join(workspace, 'there'), 'of the host')
  chownSync(workspace, 4242, 4242)
  const node = [process.execPath, '--input-type=module', '-e', program, watcher, workspace]
  const command = ['--mount', '--propagation', 'shared', '--', ...node]
  const { stdout, stderr } = spawnSync('unshare', command, { encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.deepEqual(JSON.parse(stdout), { ends: [42, 42, 42, 42, 'of the host', 42], changes: 'watching\n' })
})
