/** Writing outside the guest's own folders and the harmless devices. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
/** Without a mount namespace, guests have two folders on the host's disk, and only the host's /tmp. */
const seesHost = guests.level === 'restricted'
/** Owners may change modes, and there guests have the owner's uid, so the filter drops these calls, and those for times. */
const ignoresModes = seesHost && process.geteuid?.() !== 0

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
  '/cell/',
  '/dev/',
  '/dev/pts/',
  '/proc/',
  '/root/',
  '/home/',
  '/var/tmp/',
  '/sys/',
  '/mnt/',
  ...(seesHost
    ? ['/tmp/', '/dev/shm/', '/dev/mqueue/', `${guests.leaks.temporaryFolder}/`, '../', '../../']
    : []),
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
    for (const attempt of [() => fs.appendFileSync(path, 'x'), () => fs.writeFileSync(path, 'x'), () => fs.mkdirSync(path), () => fs.symlinkSync('/tmp', path), () => fs.unlinkSync(path), () => fs.renameSync(path, path + '2'), () => fs.truncateSync(path, 0)${ignoresModes ? '' : ', () => fs.chmodSync(path, 0o777)'}]) {
      try { attempt(); console.log('wrote', path, String(attempt)) } catch {}
    }
  }`

const attacks = {
  shell: {
    ...shell,
    code: `while read -r path; do { echo x >> "$path" || echo x > "$path" || mkdir "$path" || ln -s /tmp "$path" || rm -f "$path" && test ! -e "$path" && test -e /etc/passwd && false || mv "$path" "$path.2" ||${ignoresModes ? '' : ' chmod 777 "$path" ||'} mknod "$path" c 1 1; } 2>/dev/null && echo "wrote $path"; done < paths; exit 0`,
  },
  python: {
    ...python,
    code: `
import os
for path in input_data:
    for attempt in (lambda: open(path, 'a').write('x'), lambda: open(path, 'w').write('x'), lambda: os.mkdir(path), lambda: os.mkfifo(path), lambda: os.symlink('/tmp', path), lambda: os.unlink(path), ${ignoresModes ? '' : 'lambda: os.chmod(path, 0o777), '}${seesHost ? '' : 'lambda: os.utime(path), '}lambda: os.rename(path, path + '2'), lambda: os.truncate(path, 0), lambda: os.setxattr(path, 'user.x', b'x'), lambda: os.chown(path, 1000, 1000)):
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
    const before = describeHost()
    const { outcome, stdout, stderr } = await guests.run({
      ...request,
      input: paths,
      files: { paths: `${paths.join('\n')}\n` },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.equal(stdout, '')
    for (const path of creations) assert.ok(!existsSync(path), `${path} appeared on the host`)
    assert.deepEqual(describeHost(), before)
  })
}

/** What a guest could have changed in the host's files; every change shows in the ctime. */
function describeHost(): string[] {
  return ['/etc/passwd', '/etc/hosts', '/usr/bin/env', process.execPath].map(describeFile)
}

function describeFile(path: string): string {
  const { mode, uid, gid, size, nlink, mtimeMs, ctimeMs } = lstatSync(path)
  return JSON.stringify({ path, mode, uid, gid, size, nlink, mtimeMs, ctimeMs })
}

const changeOwnedFile = `
import ctypes, errno, fcntl, os, struct
answers = {}
def attempt(name, action):
    try:
        action()
        answers[name] = 'ok'
    except OSError as error: answers[name] = errno.errorcode[error.errno]
path = next(p for p in input_data if os.path.exists(p))
folder = os.path.dirname(path)
handle = os.open(path, os.O_RDONLY)
anchor = os.open(path, os.O_PATH)
own = '/proc/self/fd/%d' % handle
for name, at in (('path', path), ('descriptor', own), ('handle', '/proc/self/fd/%d' % anchor)):
    attempt('write by ' + name, lambda: os.write(os.open(at, os.O_WRONLY), b'x'))
    attempt('truncate by ' + name, lambda: os.truncate(at, 0))
    attempt('chmod by ' + name, lambda: os.chmod(at, 0o777))
    attempt('utime by ' + name, lambda: os.utime(at, (1, 1)))
    attempt('chown by ' + name, lambda: os.chown(at, os.getuid(), os.getgid()))
    attempt('setxattr by ' + name, lambda: os.setxattr(at, 'user.x', b'x'))
    attempt('link by ' + name, lambda: os.link(at, 'linked-' + name, follow_symlinks=True))
attempt('fchmod', lambda: os.fchmod(handle, 0o777))
attempt('fchmod of the folder', lambda: os.chmod(folder, 0o777))
attempt('futimens', lambda: os.utime(handle, (1, 1)))
attempt('fsetxattr', lambda: os.setxattr(handle, 'user.x', b'x'))
attempt('flags', lambda: fcntl.ioctl(handle, 0x40086602, struct.pack('l', 0x10)))
attempt('lease', lambda: fcntl.fcntl(handle, 1024, 1))
attempt('unlink', lambda: os.unlink(path))
attempt('rename', lambda: os.rename(path, 'renamed'))
attempt('rename of the folder', lambda: os.rename(folder, 'renamed'))
attempt('create', lambda: open(folder + '/new', 'w'))
print('\\n'.join(name for name, answer in answers.items() if answer == 'ok'))`

test('python: a file that the service owns and shows stays as it is, in content, mode, times and links', async () => {
  const folder = mkdtempSync(join(guests.leaks.temporaryFolder, 'shown-'))
  try {
    const path = join(folder, 'file')
    writeFileSync(path, 'of the service')
    chmodSync(folder, 0o755)
    const before = [describeFile(folder), describeFile(path)]
    await using lazaret = createLazaret({ readable: [{ host: folder, guest: '/data' }] })
    const { outcome, stdout, stderr } = await lazaret.run({
      ...python,
      code: changeOwnedFile,
      input: ['/data/file', path],
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    const claimed = stdout.split('\n').filter((line) => line !== '')
    assert.deepEqual(
      claimed
        .filter((call) => !ignoresModes || !/^f?chmod/.test(call))
        .filter((call) => !seesHost || !/^(utime|futimens)/.test(call)),
      [],
    )
    assert.deepEqual([describeFile(folder), describeFile(path)], before)
    assert.equal(readFileSync(path, 'utf8'), 'of the service')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('device nodes cannot be made, and writable folders of a cell’s own do not honour them', async () => {
  const code = `for folder in $HOME \${TMPDIR:-/tmp} /dev/shm; do path=$folder/d; mknod $path b 254 0 2>/dev/null && cat $path && echo made; mknod $path c 1 1 2>/dev/null && echo made; done; grep -cE ' (/tmp|/workspace|/dev/shm) .*nodev' /proc/self/mountinfo 2>/dev/null`
  const { stdout } = await guests.run({ ...shell, code })
  // On the host's own file system only the first half is checked, because `nodev` there depends on the host.
  assert.equal(stdout, seesHost ? '' : '3\n')
})

test('files that a guest writes in its own folders are gone after it', async () => {
  const { stdout: written } = await guests.run({
    ...shell,
    code: `for folder in $HOME \${TMPDIR:-/tmp} /dev/shm; do echo x > $folder/${name} && echo $folder/${name}; done 2>/dev/null; exit 0`,
  })
  const names = written.split('\n').filter((line) => line !== '')
  assert.equal(names.length, seesHost ? 2 : 3, written)
  const { stdout } = await guests.run({
    ...shell,
    code: 'echo > mine; ls -A . .. ../tmp /dev/shm 2>/dev/null; exit 0',
  })
  assert.ok(stdout.includes('mine') && !stdout.includes(name))
  // The run's folder on the host's disk is removed in the background, and the check after each test waits for that.
  await guests.leaks.check()
  for (const path of names) assert.ok(!existsSync(path), `${path} is left`)
})
