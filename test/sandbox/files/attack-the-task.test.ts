/** A file operation is a process beside the guests, with their ids. Guests find it, trace it, stop it and kill it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { useFiles } from './use-files.ts'

const { files } = useFiles()
const noPython = findPythonWith(['os'])?.path === undefined ? 'there is no Python' : false

/** Tries to open files of every process named like a file task, until a file `enough` exists. */
const look = `
import ctypes, os
libc = ctypes.CDLL(None)
found = set(); seen = 0
open('looking', 'w').close()
while not os.path.exists('enough'):
    for pid in [name for name in os.listdir('/proc') if name.isdigit() and int(name) not in (1, os.getpid())]:
        try: comm = open(f'/proc/{pid}/comm').read().strip()
        except OSError: continue
        if comm != 'cell': continue
        seen += 1
        for what in ('mem', 'environ', 'maps', 'fd/0', 'fd/1', 'root/etc', 'cwd'):
            try: fd = os.open(f'/proc/{pid}/{what}', os.O_RDONLY | os.O_NONBLOCK)
            except OSError: continue
            # The memory map of a process that is already dead is empty.
            try:
                if what != 'maps' or os.read(fd, 1): found.add(what)
            except OSError: pass
            os.close(fd)
        if libc.ptrace(16, int(pid), 0, 0) == 0: found.add('ptrace')
open('result', 'w').write(f'{"some" if seen else "none"} {sorted(found)}')`

test('guests can open nothing of it', { skip: noPython }, async () => {
  await files.writeFile('look.py', look)
  const looking = await files.startProcess('exec python3 look.py')
  while (!(await files.exists('looking')));
  const secret = Buffer.alloc(4 * 1024 * 1024, 'secret')
  for (let turn = 0; turn < 10; turn++) await files.writeFile('large', secret)
  await files.writeFile('enough', '')
  await looking.waitForExit()
  assert.equal(await files.readFile('result'), 'some []')
})

test('guests that kill everything they see can only end an operation, and the next one works', async () => {
  const killer = await files.startProcess(
    'while :; do for p in /proc/[0-9]*; do p=${p#/proc/}; case $p in 1|$$) ;; *) kill -9 $p;; esac; done; done 2> /dev/null',
  )
  let done = 0
  let lost = 0
  for (let turn = 0; turn < 100; turn++) {
    try {
      await files.writeFile(`file${turn}`, 'text')
      done++
    } catch (error) {
      assert.ok(error instanceof LazaretError && error.code === 'FILES_LOST', String(error))
      lost++
    }
  }
  killer.kill('SIGKILL')
  await files.killAllProcesses()
  assert.equal(done + lost, 100)
  await files.writeFile('after', 'text')
  assert.equal(await files.readFile('after'), 'text')
})

test('operations on a sandbox that is gone are refused as usual', async () => {
  const source = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) })
  // It is refused while the others are still running.
  files.uploadTar(source).catch(() => undefined)
  await files.writeFile('before', '')
  await files.destroy()
  await assert.rejects(files.readFile('after'), { code: 'SANDBOX_GONE' })
  await assert.rejects(files.listFiles(), { code: 'SANDBOX_GONE' })
  await assert.rejects(
    async () => {
      for await (const _ of files.readFileStream('after'));
    },
    { code: 'SANDBOX_GONE' },
  )
})
