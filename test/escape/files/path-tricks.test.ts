/** Paths that lead elsewhere: `..`, links, /proc's own links, hard links, handles, leaked folders. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { runPatiently } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
/** Without a mount namespace, guests can look up any path: Landlock restricts opening, not lookups. */
const canWalk = guests.level === 'restricted'

/** A file that exists on every host and in no cell, at the end of a path that leads out. */
const tails = ['etc/shadow', 'etc/fstab', 'sys/class', `proc/${process.pid}/environ`]
const prefixes = [
  '/workspace/../../../../../../',
  '../'.repeat(30),
  '/../../',
  '/proc/self/root/',
  '/proc/self/root/../../',
  '/proc/1/root/',
  '/proc/1/cwd/',
  '/proc/self/cwd/../',
  '/proc/thread-self/root/../',
  '/proc/self/fd/0/../',
  '/dev/fd/../../',
  '/cell/../../',
  '/cell/cell/',
]
const paths = prefixes.flatMap((prefix) => tails.map((tail) => prefix + tail))

const followInJavaScript = `
  const fs = await import('node:fs')
  input.forEach((path, i) => {
    for (const attempt of [() => fs.readFileSync(path), () => fs.readdirSync(path), () => (fs.symlinkSync(path, 'l' + i), fs.readFileSync('l' + i)), () => fs.linkSync(path, 'h' + i), () => fs.openSync(path), () => fs.cpSync(path, 'c' + i), () => fs.renameSync(path, 'r' + i)]) {
      try { attempt(); console.log('reached', path) } catch {}
    }
  })`

const attacks = {
  shell: {
    ...shell,
    code: `i=0; while read -r path; do i=$((i+1)); { cat "$path" || ls "$path/" || { ln -s "$path" l$i && cat l$i; } || ln "$path" h$i || cp "$path" c$i || mv "$path" m$i${canWalk ? '' : ' || ls "$path" || (cd "$path")'}; } >/dev/null 2>&1 && echo "reached $path"; done < paths; exit 0`,
  },
  python: {
    ...python,
    code: `
import os
for i, path in enumerate(input_data):
    for attempt in (lambda: open(path).read(), lambda: os.listdir(path), lambda: (os.symlink(path, 'l%d' % i), open('l%d' % i).read()), lambda: os.link(path, 'h%d' % i), lambda: os.rename(path, 'r%d' % i), lambda: open(path, 'a')${canWalk ? '' : ', lambda: os.chdir(path), lambda: os.open(path, os.O_PATH)'}):
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

if (canWalk) {
  test('python: a path that a guest can look up cannot be listed, read, executed, or given to a child', async () => {
    const code = `${pythonSyscalls}
import subprocess
answers = []
def attempt(action):
    try:
        action()
        answers.append('ok')
    except OSError as error: answers.append(errno.errorcode[error.errno])
os.stat('/etc/shadow')
handle = os.open('/etc/shadow', os.O_PATH)
attempt(lambda: os.read(handle, 1))
attempt(lambda: os.open('/proc/self/fd/%d' % handle, os.O_RDONLY))
attempt(lambda: os.link('/proc/self/fd/%d' % handle, 'shadow', follow_symlinks=True))
answers.append(call('execveat', handle, b'', 0, 0, 0x1000))
answers.append(call('linkat', handle, b'', -100, b'shadow', 0x1000))
os.chdir('/etc')
attempt(lambda: os.listdir('.'))
attempt(lambda: open('shadow'))
attempt(lambda: open('passwd'))
attempt(lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY))
folder = os.open('/etc', os.O_PATH | os.O_DIRECTORY)
attempt(lambda: os.open('passwd', os.O_RDONLY, dir_fd=folder))
attempt(lambda: os.listdir(folder))
child = subprocess.run(['cat', 'passwd'], cwd='/etc', capture_output=True)
print(json.dumps({'answers': answers, 'child': [child.returncode, child.stdout.decode()]}))`
    const { stdout, stderr } = await guests.run({ ...python, code })
    const { answers, child } = JSON.parse(stdout || '{}') as { answers: string[]; child: [number, string] }
    assert.equal(answers.length, 11, stderr)
    assert.deepEqual(
      answers.filter((answer) => !/^(EACCES|EPERM|EBADF|EXDEV|ENOSYS|ENOENT)$/.test(answer)),
      [],
    )
    assert.deepEqual(child, [1, ''])
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
attempt('rename from above', lambda: os.rename('../package.json', 'package.json'))
attempt('link from above', lambda: os.link('../package.json', 'package.json'))
attempt('move of its own folder', lambda: os.rename(os.environ.get('TMPDIR', '/tmp'), 'tmp'))
attempt('move of the folder it is in', lambda: os.rename(os.getcwd(), os.getcwd() + '2'))
attempt('exchange', lambda: os.rename('../tmp', os.path.join(os.environ.get('TMPDIR', '/tmp'), 'tmp')))
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

/**
 * A watch would reveal the names in a folder that the guest may not list. Watches that report reads (0x31) are
 * refused whatever the folder.
 */
const watchFolder = `${pythonSyscalls}
handle = _libc.inotify_init1(0)
watch = _libc.inotify_add_watch(handle, input_data.encode(), 0xfff & ~0x31)
print('watching' if watch >= 0 else 'not watching', flush=True)
if watch >= 0: print(os.read(handle, 65536))`

test('python: a watch reveals no names of files that others create in folders of the host', async () => {
  const name = `lazaret-watched-${randomBytes(8).toString('hex')}`
  const makeFile = (): void => {
    writeFileSync(`/tmp/${name}`, '')
    rmSync(`/tmp/${name}`)
  }
  const { result } = await runPatiently(guests.run, {
    ...python,
    code: watchFolder,
    input: '/tmp',
    onOutput: ({ text }) => (text.includes('watching') ? makeFile() : undefined),
  })
  // In its own mount namespace a guest watches its own /tmp, where nothing happens before its deadline.
  assert.equal(result.stdout, canWalk ? 'not watching\n' : 'watching\n')
})
