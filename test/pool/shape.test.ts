import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { defaultLimits } from '../../src/core/limits.ts'
import type { Limits } from '../../src/core/limits.ts'
import type { RunRequest } from '../../src/core/request.ts'
import { canBeParked, shapeOf } from '../../src/pool/shape.ts'
import type { ShapeRequest, WorkerShape } from '../../src/pool/shape.ts'
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
/** What pid 1 or the host hold from the moment when the run begins. */
const heldLater: Partial<Limits> = {
  wallMs: 1,
  cpuMs: 1,
  outputBytes: 1,
  resultBytes: 1,
  codeBytes: 1,
  inputBytes: 1,
}

describe('the shape of a worker with a program in it', () => {
  test('is the usual one for requests that want no more of anything', () => {
    for (const limits of [{}, lowered, heldLater, { ...heldLater, wallMs: 1_000_000 }]) {
      const { key, limits: started } = shape(limits)
      assert.equal(key, shape().key)
      assert.deepEqual(started, defaultLimits)
    }
  })

  for (const [name, value] of Object.entries(raised)) {
    test(`is one of its own where ${name} is above the usual`, () => {
      const { key, limits } = shape({ ...lowered, [name]: value })
      assert.notEqual(key, shape().key)
      assert.deepEqual(limits, { ...defaultLimits, [name]: value })
    })
  }
})

test('a program that waits has the memory of its run where no cgroup counts it', () => {
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
  test('differs by the size of its disk alone', () => {
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

test('runtime, language, network and modules make a shape of their own', () => {
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

test('variables can be given to a finished cell, and not to a program that has started', () => {
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
})
