/** Reading data of the host: keys, users, environments, files that anybody on the host may read. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

// Where a secret can be before a run: in this process's environment, and in a file that every user may read.
const secret = randomBytes(16).toString('hex')
process.env['LAZARET_TEST_SECRET'] = secret
const folder = `/tmp/lazaret-secret-${process.pid}`
mkdirSync(folder)
chmodSync(folder, 0o755)
writeFileSync(join(folder, 'secret'), secret)
after(() => {
  rmSync(folder, { recursive: true })
  delete process.env['LAZARET_TEST_SECRET']
})

const guests = await useLazaret()

const hostPaths = [
  '/etc/shadow',
  '/etc/sudoers',
  '/etc/ssh/ssh_host_ed25519_key',
  '/root/.ssh/id_rsa',
  '/root/.bashrc',
  join(homedir(), '.npmrc'),
  join(folder, 'secret'),
  join(process.cwd(), 'tsconfig.json'),
  '/var/lib/dpkg/status',
  '/var/run/docker.sock',
  `/proc/${process.pid}/environ`,
  '/proc/1/environ',
  '/proc/1/root/etc/shadow',
  '/proc/1/cwd/etc/shadow',
  '/sys/kernel/uevent_seqnum',
  '/dev/mem',
  '/dev/kmsg',
  '/dev/vda',
]

const readInJavaScript = `
  const fs = await import('node:fs')
  for (const path of input) { try { console.log(path, fs.readFileSync(path, 'latin1').length) } catch {} }
  console.log(JSON.stringify(process.env))`

const attacks = {
  shell: {
    ...shell,
    code: `while read -r path; do cat "$path" && echo "read $path"; done 2>/dev/null < paths; env`,
  },
  python: {
    ...python,
    code: 'import os\nfor path in input_data:\n    try: print(path, len(open(path, "rb").read(64)))\n    except OSError: pass\nprint(dict(os.environ))',
  },
  bun: { ...bun, code: readInJavaScript },
  node: { ...node, code: readInJavaScript },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${name} can read none of the host's files, and its environment holds nothing of the host's`, async () => {
    const { outcome, stdout, stderr } = await guests.run({
      ...request,
      input: hostPaths,
      files: { paths: `${hostPaths.join('\n')}\n` },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    for (const path of hostPaths) assert.ok(!stdout.includes(path), `${path} was readable`)
    assert.ok(!stdout.includes(secret))
  })
}

test('shell: no environ, cmdline, mount or fd of any process shows a secret of the host', async () => {
  // Where /proc cannot be listed, its numbers can still be guessed.
  const code = `cd /proc; for p in [0-9]* $$ $PPID 1 ${process.ppid} ${process.pid}; do cat $p/environ $p/cmdline $p/mountinfo $p/maps $p/fdinfo/* $p/task/$p/environ 2>/dev/null; ls -lR $p/fd $p/cwd/ $p/root/tmp $p/task 2>/dev/null; done; cat 1/* keys net/* 2>/dev/null; ls -lR /tmp /run /dev 2>/dev/null; exit 0`
  const { outcome, stdout } = await guests.run({ ...shell, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.ok(stdout.length > 1000)
  for (const word of [secret, 'LAZARET_TEST_SECRET', folder])
    assert.ok(!stdout.includes(word), `${word} was readable`)
})

test('python: a walk over every file outside /usr and the toolchains finds no secret', async () => {
  const code = `
import os
looked = 0
starts = ['/'] + ['/' + name for name in input_data] + [os.path.abspath(p) for p in ('.', '..', '../..', '../../..')]
for root, folders, names in (entry for start in starts for entry in os.walk(start)):
    if root == '/': folders[:] = [f for f in folders if f not in ('usr', 'lib', 'lib64', 'bin', 'sbin', 'opt', 'root', 'proc')]
    for name in names:
        path = os.path.join(root, name)
        if os.path.islink(path) or not os.path.isfile(path): continue
        try: data = open(path, 'rb').read(1 << 20)
        except OSError: continue
        looked += 1
        os.write(1, data if root.startswith(('/tmp', '/run', '/dev')) or path in ('/etc/passwd', '/etc/group', '/etc/hostname') else b'')
print('files', looked)`
  const { stdout } = await guests.run({
    ...python,
    code,
    // If the root is the host's, it cannot be listed.
    input: ['boot', 'dev', 'etc', 'home', 'mnt', 'run', 'srv', 'sys', 'tmp', folder.slice(1), 'var'],
    files: { 'its own': '' },
  })
  assert.match(stdout, /files [1-9]/)
  assert.ok(!stdout.includes(secret))
})

test('the users of the host are hidden, and so is its name if the cell has its own', async () => {
  const { stdout } = await guests.run({
    ...shell,
    code: 'cut -d: -f1 /etc/passwd; hostname; cat /etc/hostname; uname -n; whoami; ls /root /home 2>&1 | wc -l',
  })
  const shown = stdout.trim().split('\n').slice(0, -1)
  // Without a UTS namespace the kernel reveals the host's name to everybody; /etc stays closed.
  if (guests.level === 'restricted') assert.deepEqual(shown, [hostname(), hostname()])
  else assert.deepEqual(shown, ['root', 'guest', 'nobody', 'cell', 'cell', 'cell', 'guest'])
})
