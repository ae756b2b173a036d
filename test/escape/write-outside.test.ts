/** Writing anywhere but /workspace, /tmp, /dev/shm and the harmless devices. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const name = `lazaret-escape-${process.pid}`
const creations = [
  '/',
  '/etc/',
  '/usr/',
  '/usr/bin/',
  '/usr/local/bin/',
  '/bin/',
  '/lib/',
  '/opt/',
  '/opt/lazaret/',
  '/opt/lazaret/dist/',
  '/run/',
  '/run/guest/',
  '/dev/',
  '/dev/pts/',
  '/proc/',
  '/root/',
  '/home/',
  '/var/tmp/',
  '/sys/',
  '/mnt/',
].map((folder) => folder + name)
const changes = [
  '/etc/passwd',
  '/etc/hosts',
  '/etc/resolv.conf',
  '/etc/ld.so.cache',
  '/usr/bin/env',
  '/opt/lazaret/dist/index.js',
  '/opt/lazaret/package.json',
  '/proc/sys/kernel/hostname',
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/vm/drop_caches',
  '/proc/sysrq-trigger',
  '/proc/1/oom_score_adj',
  '/proc/1/comm',
]
const paths = [...creations, ...changes]

const writeInJavaScript = `
  const fs = await import('node:fs')
  for (const path of input) {
    for (const attempt of [() => fs.appendFileSync(path, 'x'), () => fs.writeFileSync(path, 'x'), () => fs.mkdirSync(path), () => fs.symlinkSync('/tmp', path), () => fs.unlinkSync(path), () => fs.chmodSync(path, 0o777), () => fs.renameSync(path, path + '2'), () => fs.truncateSync(path, 0)]) {
      try { attempt(); console.log('wrote', path, String(attempt)) } catch {}
    }
  }`

const attacks = {
  shell: {
    ...shell,
    code: `while read -r path; do { echo x >> "$path" || echo x > "$path" || mkdir "$path" || ln -s /tmp "$path" || rm -f "$path" && test ! -e "$path" && test -e /etc/passwd && false || chmod 777 "$path" || mv "$path" "$path.2" || mknod "$path" c 1 1; } 2>/dev/null && echo "wrote $path"; done < paths; exit 0`,
  },
  python: {
    ...python,
    code: `
import os
for path in input_data:
    for attempt in (lambda: open(path, 'a').write('x'), lambda: open(path, 'w').write('x'), lambda: os.mkdir(path), lambda: os.mkfifo(path), lambda: os.symlink('/tmp', path), lambda: os.unlink(path), lambda: os.chmod(path, 0o777), lambda: os.utime(path), lambda: os.rename(path, path + '2'), lambda: os.truncate(path, 0), lambda: os.setxattr(path, 'user.x', b'x'), lambda: os.chown(path, 1000, 1000)):
        try:
            attempt()
            print('wrote', path, attempt.__code__.co_firstlineno)
        except OSError: pass`,
  },
  bun: { ...bun, code: writeInJavaScript },
  node: { ...node, code: writeInJavaScript },
}

for (const [runtime, request] of Object.entries(attacks)) {
  test(`${runtime} can create, change and remove nothing outside its own folders`, async () => {
    const before = readFileSync('/usr/bin/env').length
    const { outcome, stdout, stderr } = await guests.run({
      ...request,
      input: paths,
      files: { paths: `${paths.join('\n')}\n` },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.equal(stdout, '')
    for (const path of creations) assert.ok(!existsSync(path), `${path} appeared on the host`)
    assert.equal(readFileSync('/usr/bin/env').length, before)
  })
}

test('device nodes cannot be made, and writable folders do not honour them', async () => {
  const code = `for path in /workspace/d /tmp/d /dev/shm/d; do mknod $path b 254 0 2>/dev/null && cat $path && echo made; mknod $path c 1 1 2>/dev/null && echo made; done; grep -cE ' (/tmp|/workspace|/dev/shm) .*nodev' /proc/self/mountinfo`
  const { stdout } = await guests.run({ ...shell, code })
  assert.equal(stdout, '3\n')
})

test('what a guest writes in its own folders is gone with it', async () => {
  await guests.run({
    ...shell,
    code: `for folder in /workspace /tmp /dev/shm; do echo x > $folder/${name}; done`,
  })
  const { stdout } = await guests.run({ ...shell, code: 'ls -A /workspace /dev/shm; ls -A /tmp' })
  assert.ok(!stdout.includes(name))
  for (const folder of ['/workspace', '/tmp', '/dev/shm']) assert.ok(!existsSync(`${folder}/${name}`))
})
