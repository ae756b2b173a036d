import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'

import { defaultLimits } from '../../src/core/limits.ts'
import type { LimitName, Limits } from '../../src/core/limits.ts'
import { resolveLimits } from '../../src/policy/resolve-limits.ts'

const nothing = { defaults: {}, ceilings: {} }
const names = Object.keys(defaultLimits) as LimitName[]

test('a request without limits gets the defaults', () => {
  assert.deepEqual(resolveLimits({}, nothing), { limits: defaultLimits, clamped: [] })
})

test('the operator’s defaults take precedence over Lazaret’s, and the request over both', () => {
  const { limits } = resolveLimits({ wallMs: 3 }, { defaults: { wallMs: 2, outputBytes: 20 }, ceilings: {} })
  assert.deepEqual(
    [limits.wallMs, limits.outputBytes, limits.processesMax],
    [3, 20, defaultLimits.processesMax],
  )
})

test('a key with the value undefined sets nothing', () => {
  const asked = { wallMs: undefined, cpuMs: undefined } as unknown as Partial<Limits>
  assert.deepEqual(resolveLimits(asked, { defaults: asked, ceilings: { wallMs: 40_000 } }), {
    limits: defaultLimits,
    clamped: [],
  })
})

test('a limit above its ceiling is lowered to it, and named when the request asked for it', () => {
  const ceilings = { wallMs: 100, openFilesMax: 100 }
  const { limits, clamped } = resolveLimits({ wallMs: 200 }, { defaults: {}, ceilings })
  assert.deepEqual([limits.wallMs, limits.openFilesMax, clamped], [100, 100, ['wallMs']])
})

test('an operator’s default above a ceiling is lowered and named, unless the request asks for less', () => {
  const rules = { defaults: { wallMs: 500, cpuMs: null }, ceilings: { wallMs: 100, cpuMs: 50 } }
  const { limits, clamped } = resolveLimits({}, rules)
  assert.deepEqual([limits.wallMs, limits.cpuMs, clamped], [100, 50, ['wallMs', 'cpuMs']])
  assert.deepEqual(resolveLimits({ wallMs: 99, cpuMs: 50 }, rules).clamped, [])
})

test('no limit on processor time is above every ceiling', () => {
  const { limits, clamped } = resolveLimits({ cpuMs: null }, { defaults: {}, ceilings: { cpuMs: 50 } })
  assert.deepEqual([limits.cpuMs, clamped], [50, ['cpuMs']])
  assert.equal(resolveLimits({}, { defaults: {}, ceilings: { cpuMs: null } }).limits.cpuMs, null)
})

test('files may use at most half of the memory', () => {
  const { limits, clamped } = resolveLimits({ memoryBytes: 1000, diskBytes: 900 }, nothing)
  assert.deepEqual([limits.diskBytes, clamped], [500, ['diskBytes']])
})

const someLimits = fc.record(
  Object.fromEntries(
    names.map((name) => [name, name === 'cpuMs' ? fc.option(fc.nat(), { nil: null }) : fc.nat()]),
  ),
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<Limits>>

test('whatever is requested, no limit is above its ceiling, and lowered limits are named', () => {
  fc.assert(
    fc.property(someLimits, someLimits, someLimits, (asked, defaults, ceilings) => {
      const { limits, clamped } = resolveLimits(asked, { defaults, ceilings })
      assert.deepEqual(Object.keys(limits).toSorted(), names.toSorted())
      for (const name of names) {
        const value = limits[name]
        const ceiling = ceilings[name] ?? null
        assert.ok(ceiling === null || (value !== null && value <= ceiling), name)
        const usual = defaults[name]
        const isUsualLowered = usual !== undefined && ceiling !== null && (usual === null || usual > ceiling)
        const isLowered = asked[name] === undefined ? isUsualLowered : asked[name] !== value
        assert.equal(clamped.includes(name), isLowered, name)
      }
    }),
  )
})
