/** The plan without namespaces, as data: the required order of its records. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { capabilitiesOfPid1, wardenCapabilities } from '../../../src/jail/plan/capabilities.ts'
import { hostView } from '../../../src/jail/plan/place.ts'
import { ownGround, planRestrictedExample, recordsOf, sharedGround } from '../cell/example-cell.ts'

const own = planRestrictedExample(ownGround)
const shared = planRestrictedExample(sharedGround)

test('nothing in it needs a namespace, a mount or a map of ids', () => {
  const needing = ['clone', 'id-maps', 'become', 'unshare', 'private', 'root', 'bind', 'mount', 'pivot']
  for (const { records } of [own, shared])
    assert.deepEqual(
      records.filter(({ do: name }) => needing.includes(name)),
      [],
    )
})

test('stub and warden are confined before there is a guest, the stub before there is a warden', () => {
  for (const { records } of [own, shared]) {
    const names = records.map(({ do: name }) => name)
    assert.deepEqual(
      names.filter((name) => ['confine', 'warden', 'serve'].includes(name)),
      ['confine', 'warden', 'confine', 'serve'],
    )
    assert.ok(recordsOf({ ...own, records }, 'confine').every(({ needsScope }) => needsScope))
  }
})

test('root’s guests have an id that neither stub nor warden has, and own the folders that they may write to', () => {
  const [taken] = recordsOf(own, 'take-ids')
  const guest = own.records.find(({ do: name }) => name === 'guest-ids') as
    | { readonly uid: number; readonly gid: number }
    | undefined
  const [work] = recordsOf(own, 'work')
  assert.ok(taken !== undefined && guest !== undefined)
  assert.notEqual(taken.uid, guest.uid)
  assert.notEqual(taken.uid, 0)
  assert.deepEqual([work?.uid, work?.gid], [guest.uid, guest.gid])
  const names = own.records.map(({ do: name }) => name)
  assert.ok(
    names.indexOf('guest-ids') < names.indexOf('confine'),
    'a kill without scope rests on the guests’ id',
  )
})

test('capabilities that count on the host are fewer than those of a pid 1', () => {
  assert.equal(wardenCapabilities & ~capabilitiesOfPid1('own'), 0n)
  assert.equal(recordsOf(own, 'take-ids')[0]?.mask, wardenCapabilities)
  assert.deepEqual(recordsOf(shared, 'take-ids'), [])
})

test('Landlock grants writing in the run’s two folders and to devices, and nothing of /proc but the guest’s own', () => {
  const changing = 0b1_1111_1111_0000 | (1 << 1) | (1 << 14)
  for (const plan of [own, shared]) {
    const rules = recordsOf(plan, 'guest-landlock')[0]?.policy.rules ?? []
    const writable = rules.filter(({ allowed }) => (allowed & changing) !== 0).map(({ path }) => path)
    assert.deepEqual(writable.toSorted(), [
      '/dev/full',
      '/dev/null',
      '/dev/random',
      '/dev/urandom',
      '/tmp/example/tmp',
      '/tmp/example/workspace',
    ])
    assert.deepEqual(
      rules.filter(({ path }) => path === '/' || path === '/proc' || path === '/etc' || path === '/tmp'),
      [],
    )
  }
})

test('TCP is handled where there is no network, and left to the filter’s families where there is', () => {
  const handled = (network: 'none' | 'host') =>
    recordsOf(planRestrictedExample(sharedGround, { network }), 'guest-landlock')[0]?.policy.rulesets.map(
      ({ handledNetwork }) => handledNetwork,
    )
  assert.deepEqual(handled('none')?.slice(0, 3), [3, 3, 3])
  assert.ok(handled('host')?.every((rights) => rights === 0))
})

test('a folder that is shown under another name is a link beside the workspace', () => {
  const binds = [{ host: '/srv/app/node_modules', guest: '/node_modules' }]
  const plan = planRestrictedExample(sharedGround, { binds, place: hostView('/tmp/example') })
  assert.deepEqual(recordsOf(plan, 'symlink'), [
    { do: 'symlink', target: '/srv/app/node_modules', path: 'node_modules' },
  ])
})
