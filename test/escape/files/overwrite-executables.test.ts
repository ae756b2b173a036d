/** Overwriting running programs: the guest's interpreter, the launcher, the harness and libraries, through /proc and memory. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { bun, node, python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const root = join(import.meta.dirname, '../../..')
const watched = [
  join(root, `native/bin/cell-linux-${process.arch}`),
  join(root, 'package.json'),
  process.execPath,
  ...['/bin/sh', '/usr/bin/env', '/etc/ld.so.cache'].map((path) => realpathSync(path)),
]
const fingerprints = () =>
  watched.map((path) => {
    const { mode, mtimeMs, ctimeMs } = lstatSync(path)
    return [createHash('sha256').update(readFileSync(path)).digest('hex'), mode, mtimeMs, ctimeMs].join(' ')
  })
/** If guests have the uid of the files' owner, the filter drops changes of modes and reports success. */
const ignoresModes = guests.level === 'restricted' && process.geteuid?.() !== 0

const code = `
import ctypes, mmap, os, re, sys
written = []
def attempt(name, action):
    try:
        action()
        written.append(name)
    except (OSError, PermissionError, ValueError): pass
mapped = sorted({line.split()[-1] for line in open('/proc/self/maps') if re.search(r' /\\S+$', line)})
paths = ['/proc/self/exe', '/proc/1/exe', '/proc/%d/exe' % os.getppid(), '/proc/self/map_files', sys.executable, '/opt/lazaret', *mapped]
for path in paths:
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_CREAT):
        attempt(path, lambda: os.open(path, flags))
    if not input_data: attempt('chmod ' + path, lambda: os.chmod(path, 0o777))
    else: os.chmod(path, 0o777)
    attempt('truncate ' + path, lambda: os.truncate(path, 0))
    # Opens a descriptor for reading, and opens it again for writing when the file is no longer executed: CVE-2019-5736.
    for how in (os.O_RDONLY, os.O_PATH):
        try: fd = os.open(path, how)
        except OSError: continue
        attempt('again ' + path, lambda: os.open('/proc/self/fd/%d' % fd, os.O_WRONLY))
        attempt('again ' + path, lambda: os.open('/dev/fd/%d' % fd, os.O_RDWR))
        if not input_data: attempt('by descriptor ' + path, lambda: os.fchmod(fd, 0o777))
        else: os.fchmod(fd, 0o777)
        attempt('write ' + path, lambda: os.write(fd, b'x'))
        attempt('shared ' + path, lambda: mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
        os.close(fd)
# Writes to memory that is mapped from a file through /proc: the kernel makes a copy, and the file must not change.
try: memory = os.open('/proc/self/mem', os.O_RDWR)
except PermissionError: memory = -1
for line in open('/proc/self/maps'):
    if 'libm' in line and ' r--p ' in line or 'libm' in line and ' r-xp ' in line:
        start = int(line.split('-')[0], 16)
        try: os.pwrite(memory, b'overwritten', start)
        except OSError: pass
try: names = os.listdir('/proc/self/map_files')
except OSError: names = []
for name in names:
    attempt('map_files', lambda: os.open('/proc/self/map_files/' + name, os.O_WRONLY))
for number in list(range(2, 40)):
    attempt('exe of %d' % number, lambda: os.open('/proc/%d/exe' % number, os.O_WRONLY))
print(sorted(set(written)))`

test('python: no program, library or harness that is mapped or executed can be written', async () => {
  const before = fingerprints()
  const { outcome, stdout, stderr } = await guests.run({ ...python, code, input: ignoresModes })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.equal(stdout, '[]\n')
  assert.deepEqual(fingerprints(), before)
})

const javascript = `
  const fs = await import('node:fs')
  const written = []
  const folder = input.find((path) => fs.existsSync(path))
  const harness = fs.readdirSync(folder, { recursive: true }).map((name) => folder + '/' + name)
  const paths = ['/proc/self/exe', '/proc/1/exe', process.execPath, ...harness]
  for (const path of paths.filter(Boolean)) for (const flag of ['w', 'r+', 'a']) {
    try { fs.closeSync(fs.openSync(path, flag)); written.push(path) } catch {}
    try { const fd = fs.openSync(path, 'r'); fs.closeSync(fs.openSync('/proc/self/fd/' + fd, flag)); written.push(path) } catch {}
  }
  console.log(JSON.stringify(written))`

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: its engine, its harness and the launcher cannot be written`, async () => {
    const before = fingerprints()
    const { outcome, stdout, stderr } = await guests.run({
      ...runtime,
      code: javascript,
      input: ['/opt/lazaret', join(root, 'dist')],
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.equal(stdout, '[]\n')
    assert.deepEqual(fingerprints(), before)
  })
}
