/** Paths that lead elsewhere: `..`, links, /proc's own links, hard links, handles, leaked folders. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../support/guest-python.ts'
import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

/** A file that exists on every host and in no cell, at the end of a path that leads out. */
const tails = ['etc/shadow', 'etc/fstab', 'sys/class', `proc/${process.pid}/environ`]
const prefixes = [
  '/workspace/../../../../../../',
  '/../../',
  '/proc/self/root/',
  '/proc/self/root/../../',
  '/proc/1/root/',
  '/proc/1/cwd/',
  '/proc/self/cwd/../',
  '/proc/thread-self/root/../',
  '/proc/self/fd/0/../',
  '/dev/fd/../../',
  '/run/guest/../../',
  '/run/guest/run/guest/',
]
const paths = prefixes.flatMap((prefix) => tails.map((tail) => prefix + tail))

const followInJavaScript = `
  const fs = await import('node:fs')
  input.forEach((path, i) => {
    for (const attempt of [() => fs.readFileSync(path), () => fs.readdirSync(path), () => (fs.symlinkSync(path, 'l' + i), fs.readFileSync('l' + i)), () => fs.linkSync(path, 'h' + i), () => fs.openSync(path)]) {
      try { attempt(); console.log('reached', path) } catch {}
    }
  })`

const attacks = {
  shell: {
    ...shell,
    code: `i=0; while read -r path; do i=$((i+1)); { cat "$path" || ls "$path" || { ln -s "$path" l$i && cat l$i; } || ln "$path" h$i || (cd "$path"); } >/dev/null 2>&1 && echo "reached $path"; done < paths; exit 0`,
  },
  python: {
    ...python,
    code: `
import os
for i, path in enumerate(input_data):
    for attempt in (lambda: open(path).read(), lambda: os.listdir(path), lambda: (os.symlink(path, 'l%d' % i), open('l%d' % i).read()), lambda: os.link(path, 'h%d' % i), lambda: os.chdir(path), lambda: os.open(path, os.O_PATH)):
        try:
            attempt()
            print('reached', path)
        except OSError: pass`,
  },
  bun: { ...bun, code: followInJavaScript },
  node: { ...node, code: followInJavaScript },
}

for (const [runtime, request] of Object.entries(attacks)) {
  test(`${runtime}: no path, symbolic link or hard link leads to a file of the host`, async () => {
    const { outcome, stdout, stderr } = await guests.run({
      ...request,
      input: paths,
      files: { paths: `${paths.join('\n')}\n` },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.equal(stdout, '')
  })
}

test('python: the root is its own parent, and every process has the same one', async () => {
  const code = `
import os
identity = lambda path: (os.stat(path).st_dev, os.stat(path).st_ino)
print(identity('/') == identity('/..') == identity('/proc/self/root') == identity('/proc/self/root/..'))`
  assert.equal((await guests.run({ ...python, code })).stdout, 'True\n')
})

test('python: hard links to system files, handles and renames across mounts are refused', async () => {
  const code = `${pythonSyscalls}
answers = {}
def attempt(name, action):
    try:
        action()
        answers[name] = 'ok'
    except OSError as error: answers[name] = errno.errorcode[error.errno]
attempt('link', lambda: os.link('/usr/bin/env', 'env'))
attempt('link by fd', lambda: os.link('/proc/self/fd/%d' % os.open('/usr/bin/env', os.O_RDONLY), 'env2', follow_symlinks=True))
attempt('rename', lambda: os.rename('/opt/lazaret/package.json', 'package.json'))
handle = (ctypes.c_int * 34)(128, 1)
answers['name_to_handle_at'] = call('name_to_handle_at', -100, b'/usr', handle, (ctypes.c_int * 1)(), 0)
answers['open_by_handle_at'] = call('open_by_handle_at', 3, handle, 0)
print(json.dumps(answers))`
  const { stdout } = await guests.run({ ...python, code })
  const answers = JSON.parse(stdout) as Record<string, string>
  assert.deepEqual(
    Object.keys(answers).filter((name) => answers[name] === 'ok'),
    [],
  )
  assert.deepEqual([answers['name_to_handle_at'], answers['open_by_handle_at']], ['EPERM', 'EPERM'])
})
