import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'

import type { CellCgroup, CgroupParent } from '../../../src/jail/cgroup/cgroup.ts'
import { openCgroups } from '../../../src/jail/cgroup/open.ts'
import { eventually } from '../../support/eventually.ts'
import { figuresOf } from './figures-of.ts'
import { noHolder } from './no-holder.ts'

const MiB = 1024 * 1024
const answer = openCgroups(noHolder)
answer.parent?.remove()
const skip =
  answer.parent?.version === 1
    ? false
    : `needs the cgroup layer, version 1, as root: ${answer.reason ?? 'this is version 2'}`

/** A parent group of the test, removed at its end. */
function useParent(): CgroupParent & Disposable {
  const { parent } = openCgroups(noHolder)
  if (parent === undefined) return assert.fail('cgroups were there a moment ago')
  return { ...parent, [Symbol.dispose]: () => parent.remove() }
}

/** Runs a shell program inside the group, and waits for its end. */
async function runInside(
  cgroup: CellCgroup,
  program: string,
): Promise<{ exitCode: number | null; signal: string | null }> {
  const joining = cgroup.joins.map((path) => `echo 0 > ${path}`).join(' && ')
  const child = spawn('/bin/sh', ['-c', `${joining} && exec /bin/sh -c "$0"`, program], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null]
  return { exitCode, signal }
}

async function remove(cgroup: CellCgroup): Promise<void> {
  await eventually(() => {
    try {
      cgroup.remove()
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }, 5000)
}

describe('a cgroup of a cell, version 1', { skip }, () => {
  it('that yields shares the weight of one group with all others that yield, including its children', async () => {
    using parent = useParent()
    const cgroup = parent.create('a', figuresOf({ memoryBytes: 64 * MiB, processesMax: 16 }))
    const [join = ''] = cgroup.joins.filter((path) => path.includes('/pids/'))
    const joining = cgroup.joins.map((path) => `echo 0 > ${path}`).join(' && ')
    const program = `sleep 60 & read _; sh -c 'grep ":cpu:\\|:cpu," /proc/self/cgroup'; kill $!`
    const child = spawn('/bin/sh', ['-c', `${joining} && { ${program}; }`], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const printed = text(child.stdout)
    await eventually(() => (readFileSync(join, 'utf8').trim() === '' ? 'nobody has joined' : undefined), 5000)
    cgroup.yieldProcessors()
    child.stdin.end('\n')
    const group = (await printed).trim().split(':')[2] ?? ''
    const folder = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .find((line) => / - cgroup .*[ ,]cpu(,|$)/.test(line))
      ?.split(' ')[4]
    assert.notEqual(group, '/')
    assert.ok(Number(readFileSync(`${folder}${group}/cpu.shares`, 'utf8')) <= 1024)
    await remove(cgroup)
  })

  it('has the limits of its run, plus one process for pid 1', async () => {
    using parent = useParent()
    const cgroup = parent.create('a', figuresOf({ memoryBytes: 64 * MiB, processesMax: 7 }))
    const folders = cgroup.joins.map((path) => path.replace(/\/tasks$/, ''))
    const read = (name: string) =>
      folders
        .map((folder) => `${folder}/${name}`)
        .filter((path) => existsSync(path))
        .map((path) => readFileSync(path, 'utf8').trim())
    assert.deepEqual([read('memory.limit_in_bytes'), read('pids.max')], [[String(64 * MiB)], ['8']])
    await remove(cgroup)
    assert.ok(folders.every((folder) => !existsSync(folder)))
  })

  it('counts out-of-memory kills of the kernel', async () => {
    using parent = useParent()
    const cgroup = parent.create('b', figuresOf({ memoryBytes: 16 * MiB }))
    assert.equal(cgroup.oomKills(), 0)
    await runInside(cgroup, 'exec tail -n 1 /dev/zero')
    assert.equal(cgroup.oomKills(), 1)
    assert.ok(cgroup.memoryPeakBytes() > 8 * MiB)
    await remove(cgroup)
  })

  it('counts forks that were refused', async () => {
    using parent = useParent()
    const cgroup = parent.create('c', figuresOf({ processesMax: 2 }))
    // There is room for the shell and two more processes. How many further ones it tries to start depends on the shell.
    await runInside(cgroup, 'sleep 0.2 & sleep 0.2 & sleep 0.2 & sleep 0.2 &')
    assert.ok(cgroup.forksRefused() > 0)
    await remove(cgroup)
  })

  it('counts the processor time of processes that have ended', async () => {
    using parent = useParent()
    const cgroup = parent.create('d', figuresOf())
    await runInside(cgroup, 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
    assert.ok(cgroup.cpuMs() > 1, `${cgroup.cpuMs()} ms`)
    await remove(cgroup)
  })

  it('leaves nothing behind if it cannot be created', () => {
    using parent = useParent()
    const before = readFileSync('/proc/self/cgroup', 'utf8')
    assert.throws(() => parent.create('e', figuresOf({ memoryBytes: -5 })))
    assert.equal(readFileSync('/proc/self/cgroup', 'utf8'), before)
    // Removing the parent would fail if anything were left in it.
  })

  it('is not removed while a process is inside', async () => {
    using parent = useParent()
    const cgroup = parent.create('f', figuresOf())
    const child = spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'ignore'] })
    const ended = once(child, 'exit')
    for (const path of cgroup.joins) writeFileSync(path, String(child.pid))
    assert.throws(() => cgroup.remove(), /EBUSY|could not be removed/)
    child.stdin.end()
    await ended
    await remove(cgroup)
  })
})
