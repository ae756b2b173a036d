/**
 * Locks on files that all cells and the host share: they could form a channel between guests, and a list that every
 * exec scans.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { areInForks } from '../../support/in-forks.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-locks-'))
chmodSync(folder, 0o755)
const own = join(folder, 'file')
writeFileSync(own, 'for everybody to read\n')
after(() => rmSync(folder, { recursive: true, force: true }))
const guests = await useLazaret({ readable: [{ host: folder, guest: '/data' }] })
const shown = ['/etc/ld.so.cache', '/usr/bin/env', own]

/** The device of a file as proc_locks(5) writes it: major and minor in hexadecimal. */
function nameInode(path: string): string {
  const { dev, ino } = statSync(path)
  const hex = (number: number) => number.toString(16).padStart(2, '0')
  return [hex((dev >> 8) & 0xfff), hex((dev & 0xff) | ((dev >> 12) & 0xfff00)), ino].join(':')
}

/** How many locks the machine has on these files. */
function countLocks(): number {
  const inodes = new Set(shown.map(nameInode))
  const words = readFileSync('/proc/locks', 'utf8').split(/\s+/)
  return words.filter((word) => inodes.has(word)).length
}

const locking = `
import fcntl, os, struct
def lock(path, exclusive=False):
    fd = os.open(path, os.O_RDONLY)
    try: fcntl.flock(fd, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError: return 'taken'
    for start in range(0, 200, 2):
        fcntl.fcntl(fd, fcntl.F_SETLK, struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, start, 1, 0))
    held.append(fd)
    return 'free'
held = []
paths = [path if os.path.exists(path) else '/data/file' for path in input_data]
`

test('no lock of a guest is on an inode that the host or another cell has', async (t) => {
  if (guests.level === 'restricted') return t.skip('without mounts of its own a guest has the host’s inodes')
  let during = Number.NaN
  let another: unknown
  const look = async (): Promise<void> => {
    during = countLocks()
    const run = await guests.run({
      ...python,
      code: `${locking}[lock(path, True) for path in paths]`,
      input: shown,
    })
    another = run.value
    const host = spawnSync('flock', ['--nonblock', own, 'true'])
    assert.equal(host.status, 0, 'a guest’s lock is in the way of the host')
  }
  const { value, stderr } = await guests.run({
    ...python,
    code: `${locking}taken = [lock(path, True) for path in paths]; look(); taken`,
    input: shown,
    functions: { look },
  })
  assert.deepEqual(value, ['free', 'free', 'free'], stderr)
  assert.equal(during, 0)
  // Forks of one zygote have one view of files.
  if (!areInForks) assert.deepEqual(another, ['free', 'free', 'free'])
})
