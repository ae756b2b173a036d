/** Without a kernel: the test creates folders and files like those of the cgroup tree in the kernel's documentation. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import type { CgroupParent } from '../../../src/jail/cgroup/cgroup.ts'
import type { GroupFolders } from '../../../src/jail/cgroup/files.ts'
import { openVersion2 } from '../../../src/jail/cgroup/version-2.ts'
import { figuresOf } from './figures-of.ts'

const files = {
  'cgroup.subtree_control': '',
  'cgroup.procs': '',
  'memory.max': 'max\n',
  'memory.swap.max': 'max\n',
  'memory.peak': '12345\n',
  'memory.events': 'low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n',
  'pids.max': 'max\n',
  'pids.events': 'max 4\n',
  'cpu.weight': '1\n',
  'cpu.stat': 'usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n',
}

interface Tree extends Disposable {
  readonly own: string
  readonly groups: GroupFolders
  readonly read: (path: string) => string
}

function useTree(without: readonly (keyof typeof files)[] = []): Tree {
  const own = mkdtempSync(join(tmpdir(), 'lazaret-tree-'))
  const fill = (folder: string): void => {
    for (const [name, text] of Object.entries(files)) {
      if (!without.includes(name as keyof typeof files)) writeFileSync(join(folder, name), text)
    }
  }
  fill(own)
  const make = (path: string): void => {
    mkdirSync(path)
    fill(path)
  }
  return {
    own,
    groups: { make, remove: (path) => rmSync(path, { recursive: true, force: true }) },
    read: (path) => readFileSync(join(own, path), 'utf8'),
    [Symbol.dispose]: () => rmSync(own, { recursive: true, force: true }),
  }
}

const open = ({ own, groups }: Tree): CgroupParent =>
  openVersion2({ road: 'own-group', own, name: 'lazaret', occupant: process.pid, groups })

test('in a folder tree, controllers are enabled for the parent group and its cells', () => {
  using tree = useTree()
  open(tree)
  for (const folder of ['.', 'lazaret'])
    assert.equal(tree.read(`${folder}/cgroup.subtree_control`), '+memory +pids +cpu', folder)
})

test('in a folder tree, enabled controllers are not enabled again', () => {
  using tree = useTree()
  writeFileSync(join(tree.own, 'cgroup.subtree_control'), 'cpuset cpu memory\n')
  open(tree)
  assert.match(tree.read('cgroup.subtree_control'), /^\+pids/)
})

test('in a folder tree, a cell’s group has the limits of its run, no swap, and one process for pid 1', () => {
  using tree = useTree()
  const parent = open(tree)
  const cell = parent.create('cell-1', figuresOf({ memoryBytes: 1000, processesMax: 7 }))
  const read = (name: string) => tree.read(`lazaret/cell-1/${name}`)
  assert.equal(read('memory.max').slice(0, 4), '1000')
  assert.equal(read('memory.swap.max').slice(0, 1), '0')
  assert.equal(read('pids.max').slice(0, 1), '8')
  assert.deepEqual(cell.joins, [join(tree.own, 'lazaret/cell-1/cgroup.procs')])
  cell.remove()
  assert.ok(!existsSync(join(tree.own, 'lazaret/cell-1')))
  parent.remove()
  assert.ok(!existsSync(join(tree.own, 'lazaret')))
})

test('in a folder tree, the counters are those of the documented keys', () => {
  using tree = useTree()
  const cell = open(tree).create('cell-1', figuresOf())
  assert.deepEqual(
    [cell.oomKills(), cell.forksRefused(), cell.cpuMs(), cell.memoryPeakBytes()],
    [2, 4, 1.5, 12345],
  )
})

test('in a folder tree, a cell that yields has a tenth of the weight of others', () => {
  using tree = useTree()
  const cell = open(tree).create('cell-1', figuresOf())
  cell.yieldProcessors()
  assert.equal(Number.parseInt(tree.read('lazaret/cell-1/cpu.weight'), 10), 10)
})

test('in a folder tree, swap accounting and memory.peak are optional', () => {
  using tree = useTree(['memory.swap.max', 'memory.peak'])
  const cell = open(tree).create('cell-1', figuresOf())
  assert.equal(cell.memoryPeakBytes(), 0)
  assert.ok(!existsSync(join(tree.own, 'lazaret/cell-1/memory.swap.max')))
})

test('in a folder tree, a group that cannot be limited is removed again', () => {
  using tree = useTree(['pids.max'])
  const parent = open(tree)
  assert.throws(() => parent.create('cell-1', figuresOf()), { code: 'ENOENT' })
  assert.ok(!existsSync(join(tree.own, 'lazaret/cell-1')))
})
