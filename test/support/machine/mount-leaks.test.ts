/** The leak check detects the mounts of cells, and ignores those of other programs on the machine. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

interface Seen {
  readonly elsewhere: string
  readonly inFolder: string
  readonly inView: string
  readonly bound: string
  readonly checks: readonly string[]
}

const host = join(import.meta.dirname, '../hosts/mounting-host.ts')
const folder = mkdtempSync(join(tmpdir(), 'lazaret-mounts-'))
after(() => rmSync(folder, { recursive: true }))

const asUser = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
const unshare = ['--mount', '--propagation', 'private', ...asUser]
const skip = spawnSync('unshare', [...unshare, 'true']).status !== 0 && 'no mount namespace can be made here'

/** As in /proc/self/mountinfo. */
const mountLine = /^left behind: .*\d+ \d+ \d+:\d+ \//

/** What the leak check says in a mount namespace. `outer` is the runner's, if the runner has made one for its tests. */
function look(outer?: string): Seen {
  const { LAZARET_TESTS_OUTER_MOUNTS: _, ...others } = process.env
  const env = { ...others, TMPDIR: folder, ...(outer !== undefined && { LAZARET_TESTS_OUTER_MOUNTS: outer }) }
  const options = { env, encoding: 'utf8' } as const
  const { stdout, stderr } = spawnSync('unshare', [...unshare, process.execPath, host], options)
  assert.equal(stderr, '')
  return JSON.parse(stdout) as Seen
}

test(
  'among other programs, a mount counts if it is in the folder of the tests or in the view of a cell',
  { skip },
  () => {
    const seen = look()
    assert.equal(seen.elsewhere, '')
    for (const left of [seen.inFolder, seen.inView, seen.bound]) assert.match(left, mountLine)
  },
)

test('in a mount namespace of the tests every mount of the kinds of cells counts', { skip }, () => {
  const seen = look(readlinkSync('/proc/self/ns/mnt'))
  for (const left of [seen.elsewhere, seen.inFolder, seen.inView, seen.bound]) assert.match(left, mountLine)
})

test('what a check has reported is not waited for again by the next one', { skip }, () => {
  const [first = '', second] = look().checks
  assert.match(first, /^Still so after \d+ ms: left behind: /)
  assert.equal(second, 'undefined')
})
