import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { defaultLimits } from '../../src/core/limits.ts'
import type { Limits } from '../../src/core/limits.ts'
import type { RunRequest } from '../../src/core/request.ts'
import { canBeParked, mayFork, shapeOf, zygoteKey } from '../../src/pool/shape.ts'
import type { PoolSizes, ShapeRequest, WorkerShape } from '../../src/pool/shape.ts'
import { bunRuntime } from '../../src/runtimes/bun/host.ts'
import { nodeRuntime } from '../../src/runtimes/node/host.ts'
import { pythonRuntime } from '../../src/runtimes/python/host.ts'
import type { Runtime } from '../../src/runtimes/runtime.ts'

const runtimeThatParks = (parks: Runtime['parks']): Runtime => ({
  name: parks === 'cell' ? 'shell' : 'python',
  languages: ['python'],
  parks,
  toolchain: { find: () => null, fix: () => '', isShown: false },
  prepare: () => assert.fail('nothing is prepared for a shape'),
})
const program = runtimeThatParks('program')
const cell = runtimeThatParks('cell')
const MiB = 1024 * 1024

function shape(
  limits: Partial<Limits> = {},
  {
    runtime = program,
    memoryHeldByCgroup = true,
    ...request
  }: Partial<ShapeRequest> & { readonly runtime?: Runtime; readonly memoryHeldByCgroup?: boolean } = {},
): WorkerShape {
  const asked = { limits: { ...defaultLimits, ...limits }, usual: defaultLimits, memoryHeldByCgroup }
  return shapeOf({ language: 'python', ...request }, runtime, asked)
}

const lowered = {
  memoryBytes: defaultLimits.memoryBytes - MiB,
  processesMax: defaultLimits.processesMax - 1,
  openFilesMax: defaultLimits.openFilesMax - 1,
  diskBytes: defaultLimits.diskBytes - MiB,
}
const raised = {
  memoryBytes: defaultLimits.memoryBytes + MiB,
  processesMax: defaultLimits.processesMax + 1,
  openFilesMax: defaultLimits.openFilesMax + 1,
  diskBytes: defaultLimits.diskBytes + MiB,
}
/** Limits that pid 1 or the host enforces from the start of the run. */
const heldLater: Partial<Limits> = {
  wallMs: 1,
  cpuMs: 1,
  outputBytes: 1,
  resultBytes: 1,
  codeBytes: 1,
  inputBytes: 1,
}

describe('the shape of a worker with a program in it', () => {
  test('is the default one for requests without higher limits', () => {
    for (const limits of [{}, lowered, heldLater, { ...heldLater, wallMs: 1_000_000 }]) {
      const { key, limits: started } = shape(limits)
      assert.equal(key, shape().key)
      assert.deepEqual(started, defaultLimits)
    }
  })

  for (const [name, value] of Object.entries(raised)) {
    test(`is separate if ${name} is above the default`, () => {
      const { key, limits } = shape({ ...lowered, [name]: value })
      assert.notEqual(key, shape().key)
      assert.deepEqual(limits, { ...defaultLimits, [name]: value })
    })
  }
})

test('a parked program has the memory limit of its run if there is no cgroup', () => {
  const { memoryBytes } = lowered
  const { key, limits } = shape(lowered, { memoryHeldByCgroup: false })
  assert.deepEqual(limits, { ...defaultLimits, memoryBytes })
  assert.notEqual(key, shape({}, { memoryHeldByCgroup: false }).key)
  assert.equal(
    shape(lowered, { memoryHeldByCgroup: false, runtime: cell }).limits.memoryBytes,
    defaultLimits.memoryBytes,
  )
})

describe('the shape of a finished cell', () => {
  test('differs only by the size of its disk', () => {
    const of = (limits: Partial<Limits>) => shape(limits, { runtime: cell })
    const { diskBytes: less, ...others } = lowered
    const { diskBytes: more, ...othersRaised } = raised
    for (const limits of [others, othersRaised, heldLater]) assert.equal(of(limits).key, of({}).key)
    for (const diskBytes of [less, more]) {
      assert.notEqual(of({ diskBytes }).key, of({}).key)
      assert.deepEqual(of({ ...othersRaised, diskBytes }).limits, { ...defaultLimits, diskBytes })
    }
  })
})

test('each runtime, language, network and list of modules has its own shape', () => {
  const keys = [
    shape(),
    shape({}, { runtime: cell }),
    shape({}, { language: 'typescript' }),
    shape({}, { network: 'host' }),
    shape({}, { preload: ['json'] }),
    shape({}, { preload: ['json', 're'] }),
    shape({}, { preload: ['json,re'] }),
  ].map(({ key }) => key)
  assert.equal(new Set(keys).size, keys.length)
  assert.equal(shape({}, { network: 'none', preload: [] }).key, shape().key)
})

test('variables can be set in a parked cell, and in a parked program if nothing has read them', () => {
  const request = (more: Partial<RunRequest>): RunRequest => ({ language: 'python', code: '', ...more })
  const env = { A: '' }
  assert.deepEqual(
    [
      canBeParked(request({}), program),
      canBeParked(request({ env: {} }), program),
      canBeParked(request({ env }), program),
      canBeParked(request({ env }), cell),
    ],
    [true, true, false, true],
  )
  const may = (runtime: Runtime, name: string, preload: readonly string[] = []) =>
    canBeParked(request({ env: { A: '', [name]: '' }, preload }), runtime)
  for (const runtime of [nodeRuntime, pythonRuntime]) {
    for (const name of ['API_KEY', 'PATH', 'HOME', '__proto__']) assert.ok(may(runtime, name), name)
    for (const name of ['LD_PRELOAD', 'LC_ALL', 'LANG', 'TZ', 'OMP_NUM_THREADS'])
      assert.ok(!may(runtime, name), name)
    assert.ok(!may(runtime, 'A', ['json']), 'what is loaded ahead may have read it')
  }
  assert.ok(!may(nodeRuntime, 'NODE_OPTIONS'))
  assert.ok(!may(pythonRuntime, 'PYTHONHASHSEED'))
  assert.ok(!may(bunRuntime, 'API_KEY'))
})

describe('forks', () => {
  const shapeFor = (sizes: PoolSizes, runtime: Runtime, request: Partial<ShapeRequest> = {}): WorkerShape =>
    shapeOf({ language: runtime.languages[0] ?? 'shell', ...request }, runtime, {
      ...{ limits: defaultLimits, usual: defaultLimits, memoryHeldByCgroup: true, sizes },
    })

  test('are the default if the interpreter supports them, and never used with a network', () => {
    const may = (runtime: Runtime, sizes: PoolSizes = {}, request: Partial<ShapeRequest> = {}) =>
      mayFork(shapeFor(sizes, runtime, request), sizes)
    assert.deepEqual(
      [pythonRuntime, bunRuntime, nodeRuntime, cell].map((runtime) => may(runtime)),
      [true, true, true, false],
    )
    assert.deepEqual(
      [
        may(bunRuntime, { bun: { forks: false } }),
        may(bunRuntime, { bun: { forks: 'client' } }),
        may(bunRuntime, {}, { network: 'host' }),
      ],
      [false, true, false],
    )
  })

  test('are of one interpreter for all clients, or of one for each', () => {
    const of = (sizes: PoolSizes, runtime: Runtime, ...clients: (string | undefined)[]) =>
      clients.map((client) => shapeFor(sizes, runtime, client === undefined ? {} : { client }))
    const each: PoolSizes = { bun: { forks: 'client' }, node: { forks: 'client' } }
    const countIn = (shapes: readonly WorkerShape[], key: (shape: WorkerShape) => string) =>
      new Set(shapes.map(key)).size
    for (const key of [zygoteKey, (one: WorkerShape) => one.key]) {
      assert.equal(countIn(of({}, bunRuntime, 'ada', 'bob', undefined), key), 1)
      assert.equal(countIn(of(each, bunRuntime, 'ada', 'bob', undefined, ''), key), 3)
      assert.equal(countIn(of(each, nodeRuntime, 'ada', 'bob'), key), 2)
      // Cells of the shell are not forks, so they may be shared between clients.
      assert.equal(countIn(of(each, cell, 'ada', 'bob'), key), 1)
    }
  })

  test('have the heap limit of their interpreter, if that has one from its start', () => {
    const { memoryBytes } = defaultLimits
    const keyFor = (runtime: Runtime, bytes: number) =>
      zygoteKey(shape({ memoryBytes: bytes }, { language: 'javascript', runtime }))
    assert.notEqual(keyFor(nodeRuntime, 2 * memoryBytes), keyFor(nodeRuntime, memoryBytes))
    assert.equal(keyFor(nodeRuntime, memoryBytes / 2), keyFor(nodeRuntime, memoryBytes))
    assert.equal(keyFor(bunRuntime, 2 * memoryBytes), keyFor(bunRuntime, memoryBytes))
  })
})
