/** The kernel keeps a removed cgroup as long as a page that was charged to it is cached. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { test } from 'node:test'

import { openCgroups } from '../../../src/jail/cgroup/open.ts'
import { Leftovers } from '../../../src/jail/cgroup/leftovers.ts'
import { eventually } from '../../support/eventually.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { figuresOf } from './figures-of.ts'
import { noHolder } from './no-holder.ts'

const { parent, reason } = openCgroups(noHolder)
parent?.remove()
const skip = parent?.version === 1 ? false : `needs cgroups of version 1: ${reason ?? 'this is version 2'}`

/** More than twice the number that a host lets the kernel keep. */
const groups = 520
const keptMax = 400

/** Moves from group to group, and in each reads a file on the disk that has not been read before. */
const wander = `
import json, os, sys
for number, joins in enumerate(json.load(sys.stdin)):
    file = os.open(sys.argv[1] + '/%d' % number, os.O_CREAT | os.O_RDWR)
    os.write(file, b'x' * 4096)
    os.fdatasync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    for path in joins: open(path, 'w').write('0')
    os.pread(file, 10, 0)
    os.close(file)`

/** Includes removed groups that the kernel still keeps. */
function countGroups(): number {
  return Number(/^memory\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/cgroups', 'utf8'))?.[1])
}

function refusalOf(remove: () => void): string | undefined {
  try {
    remove()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('removed groups that read a file first do not accumulate in the kernel', { skip }, async () => {
  // Not below /tmp, which may be a tmpfs.
  const folder = mkdtempSync(`${checkoutRoot}/node_modules/.cgroups-`)
  const opened = openCgroups(noHolder).parent
  assert.ok(opened !== undefined)
  try {
    const before = countGroups()
    const all = Array.from({ length: groups }, (_, index) => opened.create(`g-${index}`, figuresOf()))
    const joins = JSON.stringify(all.map((group) => group.joins))
    assert.equal(spawnSync('python3', ['-c', wander, folder], { input: joins }).status, 0)
    // The kernel may need a moment until the last one is empty.
    for (const group of all.toReversed()) await eventually(() => refusalOf(() => group.remove()), 5000)
    await eventually(
      () => (countGroups() - before < keptMax ? undefined : `${countGroups() - before} more groups`),
      5000,
    )
  } finally {
    opened.remove()
    rmSync(folder, { recursive: true })
  }
})

test('a group that cannot be removed is not counted, and a refusal to reclaim is ignored', async () => {
  let asked = 0
  const leftovers = new Leftovers(() => Promise.reject(new Error(`asked ${++asked} times`)))
  const group = { remove: () => undefined } as Parameters<Leftovers['remove']>[0]
  const busy = {
    remove: () => {
      throw new Error('busy')
    },
  } as unknown as typeof group
  for (let index = 0; index < 255; index++) leftovers.remove(group)
  assert.throws(() => leftovers.remove(busy), /busy/)
  assert.equal(asked, 0)
  leftovers.remove(group)
  assert.equal(asked, 1)
})
