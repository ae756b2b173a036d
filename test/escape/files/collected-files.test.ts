/** Hostile files to be collected: links, pipes, races, names and sizes that could mislead a reader on the host. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

async function collectAfter(code: string, collect: readonly string[] = ['.']) {
  const { files, truncated, outcome, stderr } = await guests.run({ ...python, code, collect })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const texts = Object.fromEntries(
    Object.entries(files).map(([path, content]) => [path, Buffer.from(content).toString()]),
  )
  return { texts, isComplete: !truncated.includes('files') }
}

const prelude = `import errno, os, socket, stat, sys
def write(path, text='own'):
    with open(path, 'w') as file: file.write(text)
`

test('links are never followed, wherever they are in a path, and their targets are not collected', async () => {
  const code = `${prelude}
os.makedirs('real')
write('real/file')
os.symlink('/etc/passwd', 'passwd')
os.symlink('/etc', 'etc')
os.symlink('/proc/1/root', 'root')
os.symlink('real', 'folder')
os.symlink('real/file', 'file')
os.symlink('.', 'loop')
os.link('real/file', 'hard')`
  const everything = await collectAfter(code)
  assert.deepEqual(everything, { texts: { hard: 'own', 'real/file': 'own' }, isComplete: true })
  const named = ['passwd', 'etc/passwd', 'etc', 'root/etc/passwd', 'folder/file', 'file', 'loop/loop/hard']
  assert.deepEqual(await collectAfter(code, named), { texts: {}, isComplete: true })
})

test('pipes and sockets are not opened, and block nothing', async () => {
  const code = `${prelude}
os.mkfifo('pipe')
try: socket.socket(socket.AF_UNIX).bind('socket')
except OSError as error: assert error.errno == errno.EAFNOSUPPORT
try: os.mknod('device', stat.S_IFCHR | 0o666, os.makedev(1, 5))
except PermissionError: pass
write('file')`
  assert.deepEqual(await collectAfter(code), { texts: { file: 'own' }, isComplete: true })
  assert.deepEqual(await collectAfter(code, ['pipe', 'socket']), { texts: {}, isComplete: true })
})

test('a file that a background process swaps for a link returns only the guest’s own data', async () => {
  const code = `${prelude}
os.mkdir('d')
write('d/x', 'own')
os.symlink('/etc/passwd', 'd/link')
os.symlink('/etc', 'e')
for turn in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            for step in (('d/x', 'd/y'), ('d/link', 'd/x'), ('d/x', 'd/link'), ('d/y', 'd/x'), ('d', 'f'), ('e', 'd'), ('d', 'e'), ('f', 'd')):
                try: os.rename(*step)
                except OSError: pass
sys.stdout.flush()
os._exit(0)`
  for (let turn = 0; turn < 10; turn++) {
    const { texts } = await collectAfter(code, ['d', 'd/x', '**/*'])
    for (const text of Object.values(texts)) assert.equal(text, 'own')
  }
})

test('processes that were left behind are dead before files are read, so no file is half written', async () => {
  const code = `${prelude}
import signal, threading
ready = os.pipe()
for number in range(8):
    if os.fork() == 0:
        os.setsid()
        for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(name, signal.SIG_IGN)
        line = str(number) * 9 + chr(10)
        with open('log', 'a', buffering=1) as log:
            log.write(line)
            os.write(ready[1], b'x')
            while True: log.write(line)
for _ in range(8): os.read(ready[0], 1)
os._exit(0)`
  const { texts, isComplete } = await collectAfter(code, ['log'])
  assert.ok(isComplete)
  const lines = (texts['log'] ?? '').split('\n')
  assert.equal(lines.pop(), '')
  assert.deepEqual([...new Set(lines.map((line) => line.length))], [9])
  assert.equal(new Set(lines).size, 8)
})

test('a sparse file of any size costs the host nothing, and other files are collected', async () => {
  const code = `${prelude}
write('a')
with open('huge', 'wb') as file: file.truncate(200 << 20)
write('z')`
  const { texts, isComplete } = await keepHeldFlat(() => collectAfter(code, ['*']))
  assert.deepEqual({ texts, isComplete }, { texts: { a: 'own', z: 'own' }, isComplete: false })
})

test('names with newlines, control characters and other scripts arrive unchanged', async () => {
  const names = [
    'new\nline',
    '\u001b]0;title\u0007',
    '__proto__',
    'constructor',
    '-rf',
    '$(id)',
    '..a',
    'ä😀',
    '\ufeffbom',
  ]
  const { texts, isComplete } = await collectAfter(
    `${prelude}\nfor name in ${JSON.stringify(names).replace('😀', '\\U0001F600')}: write(name)`,
  )
  assert.ok(isComplete)
  assert.deepEqual(Object.keys(texts).toSorted(), names.toSorted())
  assert.equal(Object.getPrototypeOf(texts), Object.prototype)
})

test('a name that is not UTF-8 is left out, and reported if it was requested', async () => {
  const code = `${prelude}
write('good.txt')
write(b'bad\\xff.txt')
os.mkdir(b'\\xc0\\xaf')
write(b'\\xc0\\xaf/good.csv')`
  assert.deepEqual(await collectAfter(code, ['*.txt']), { texts: { 'good.txt': 'own' }, isComplete: false })
  assert.deepEqual(await collectAfter(code, ['**/*.csv']), { texts: {}, isComplete: false })
  assert.deepEqual(await collectAfter(code, ['good*']), { texts: { 'good.txt': 'own' }, isComplete: true })
})

test('endlessly nested folders are searched to a maximum depth', async () => {
  const code = `${prelude}
write('top')
for depth in range(${guests.level === 'restricted' ? 200 : 500}):
    os.mkdir('d' * 200)
    os.chdir('d' * 200)
    write('file')`
  const { texts, isComplete } = await collectAfter(code)
  const paths = Object.keys(texts)
  assert.ok(!isComplete)
  assert.ok(paths.includes('top') && paths.every((path) => path.length < 4096))
})

test('a hundred thousand entries end the listing, not the host', async () => {
  const code = `${prelude}
os.mkdir('many')
write('result.txt')
for number in range(110_000):
    if number % 50_000 == 0: write(f'many/{number}')
    else: os.link(f'many/{number // 50_000 * 50_000}', f'many/{number}')`
  const request = { ...python, code, limits: { diskBytes: 2 ** 30, memoryBytes: 2 ** 31, wallMs: ampleMs } }
  const all = await keepHeldFlat(() => guests.run({ ...request, collect: ['**'] }))
  assert.deepEqual(all.outcome, { kind: 'completed', exitCode: 0 }, all.stderr)
  assert.ok(all.truncated.includes('files'))
  assert.ok(Object.keys(all.files).length <= 10_000)
  const one = await guests.run({ ...request, collect: ['result.txt'] })
  assert.deepEqual([Object.keys(one.files), one.truncated], [['result.txt'], []])
})

/** On the host's disk, files are counted by walking through them, which makes unreadable folders readable. */
const opensFolders = guests.level === 'restricted'
/** If guests also have the service's uid, their changes of modes are ignored. */
const ignoresModes = opensFolders && process.geteuid?.() !== 0

test('unreadable files are left out, and reported', async () => {
  const code = `${prelude}
write('open')
write('closed')
os.chmod('closed', 0)
os.mkdir('locked')
write('locked/file')
os.chmod('locked', 0)`
  const some = await collectAfter(code)
  const unreadable = await collectAfter(`${prelude}\nwrite('file')\nos.chmod(os.getcwd(), 0)`)
  const texts = {
    open: 'own',
    ...(opensFolders ? { 'locked/file': 'own' } : {}),
    ...(ignoresModes ? { closed: 'own' } : {}),
  }
  assert.deepEqual(some, { texts, isComplete: ignoresModes })
  assert.deepEqual(unreadable, { texts: opensFolders ? { file: 'own' } : {}, isComplete: opensFolders })
})

test('names chosen for patterns with many stars do not block the host', async () => {
  const code = `${prelude}
for number in range(2000): write('-' * 240 + str(number))`
  const { texts, isComplete } = await collectAfter(code, ['*-*-*-*-*-*-*-*-*.csv', '{*-*,*}-*-*-*.csv'])
  assert.deepEqual({ texts, isComplete }, { texts: {}, isComplete: true })
})

test('a full disk and an exhausted process limit do not prevent collection', async () => {
  const { files, truncated } = await guests.run({
    ...shell,
    code: 'echo own > file; cat /dev/zero > full; sleep 60 & sleep 60 & exit 0',
    collect: ['file'],
    limits: { diskBytes: 1 << 20, processesMax: 4 },
  })
  assert.deepEqual([Object.keys(files), truncated], [['file'], []])
})
