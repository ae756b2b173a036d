import assert from 'node:assert/strict'
import { test } from 'node:test'

import { adviseOn, isExhaustion } from '../../../src/jail/machine/advice.ts'
import { belowMinimum } from '../../../src/jail/machine/best-wall.ts'
import { WallRefused, explainFailure } from '../../../src/jail/launch/launch.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { lookAround } from '../../../src/jail/machine/surroundings.ts'
import type { Surroundings } from '../../../src/jail/machine/surroundings.ts'
import { ownGround, planExample } from '../cell/example-cell.ts'

const plan = planExample(ownGround)
const EPERM = 1
const EIO = 5
const EACCES = 13
const ENOSPC = 28

/** A machine without any known cause of a refusal; each test changes one part. */
const nowhere: Surroundings = {
  isRoot: false,
  canAdminister: false,
  container: null,
  isFiltered: false,
  appArmor: null,
  sysctls: Object.fromEntries(
    Object.keys(lookAround().sysctls).map((name) => [name, name.startsWith('user.max_') ? 9999 : null]),
  ) as Surroundings['sysctls'],
  isProcMasked: false,
  hasCgroupVersion2: true,
  libc: 'glibc',
  idsMax: 2 ** 32,
  kernel: [6, 12],
}

const failedAt = (name: string, errno: number, around: Partial<Surroundings> = {}) =>
  explainFailure(
    { record: plan.records.findIndex((record) => record.do === name), errno, step: 'some step' },
    plan,
    { ...nowhere, ...around },
  )

test('a step that the machine refuses is JAIL_UNAVAILABLE, and a weaker wall can be tried', () => {
  for (const name of ['open-tree', 'clone', 'private', 'mount', 'pivot', 'hostname']) {
    const error = failedAt(name, EPERM)
    assert.ok(error instanceof WallRefused, name)
    assert.equal(error.code, 'JAIL_UNAVAILABLE')
    assert.match(error.message, new RegExp(`Step "some step" \\(${name}.*EPERM, operation not permitted`))
  }
})

test('any other failure is CELL_FAILED with the step and the errno', () => {
  const error = failedAt('mount', EIO)
  assert.equal(error.code, 'CELL_FAILED')
  assert.match(error.message, /Step "some step" \(mount .*EIO/)
  assert.equal(failedAt('serve', EPERM).code, 'CELL_FAILED')
})

test('a folder that may not be entered does not count as a refusal of namespaces, and lowers nothing', () => {
  const error = failedAt('open-tree', EACCES)
  assert.equal(error.code, 'CELL_FAILED')
  assert.ok(!(error instanceof WallRefused))
})

test('the maximum number of mounts does not count as a refusal either', () => {
  const error = failedAt('bind', ENOSPC)
  assert.ok(!(error instanceof WallRefused))
  assert.equal(error.code, 'CELL_FAILED')
})

test('temporarily exhausted namespaces are not a refusal either, and may be tried again', () => {
  const error = failedAt('clone', ENOSPC)
  assert.equal(error.code, 'CELL_FAILED')
  assert.equal(error.retryable, true)
  assert.match(error.hint, /used up/)
  const none = { ...nowhere.sysctls, 'user.max_net_namespaces': 0 }
  assert.ok(failedAt('clone', ENOSPC, { sysctls: none }) instanceof WallRefused)
})

test('a failure after the cell was built names no record', () => {
  const error = explainFailure({ record: null, errno: 9999, step: 'execute the program' }, plan, nowhere)
  assert.match(error.message, /Step "execute the program" failed: errno 9999/)
})

test('a guest that cannot be restricted by Landlock says what the kernel lacks', () => {
  const EOPNOTSUPP = 95
  const error = explainFailure({ record: null, errno: EOPNOTSUPP, step: 'apply Landlock' }, plan, nowhere)
  assert.equal(error.code, 'JAIL_UNAVAILABLE')
  assert.match(error.hint, /lsm=/)
})

const restricted = { ...nowhere.sysctls, 'kernel.apparmor_restrict_unprivileged_userns': 1 }
const whoRefused: Record<
  string,
  { name?: string; errno?: number; around: Partial<Surroundings>; hint: RegExp }
> = {
  'an old kernel': {
    around: { kernel: [5, 10] },
    hint: /this is Linux 5\.10; cells need Linux 5\.13 or later/,
  },
  'the sysctl that leaves them to root, for whose cells it holds too,': {
    around: {
      isRoot: true,
      canAdminister: true,
      sysctls: { ...nowhere.sysctls, 'kernel.unprivileged_userns_clone': 0 },
    },
    hint: /cells do not run as root[^]*echo 'kernel\.unprivileged_userns_clone = 1'/,
  },
  'a count of network namespaces': {
    errno: ENOSPC,
    around: { sysctls: { ...nowhere.sysctls, 'user.max_net_namespaces': 0 } },
    hint: /`user\.max_net_namespaces` is 0[^]*echo 'user\.max_net_namespaces = 15000'/,
  },
  'Ubuntu’s AppArmor': { name: 'mount', around: { sysctls: restricted }, hint: /doctor --apparmor/ },
  'Ubuntu’s AppArmor, around a container': {
    around: { sysctls: restricted, container: 'docker', isFiltered: true },
    hint: /docker run[^]*apparmor=lazaret-container/,
  },
  'the AppArmor profile of a container': {
    name: 'private',
    errno: EACCES,
    around: { appArmor: 'docker-default (enforce)', container: 'docker' },
    hint: /the AppArmor profile docker-default \(enforce\)[^]*apparmor=unconfined/,
  },
  'an AppArmor profile of the service’s own': {
    around: { appArmor: 'my-service (enforce)' },
    hint: /my-service \(enforce\): allow it `userns,`/,
  },
  'a kernel that was built without': { errno: 22, around: {}, hint: /CONFIG_USER_NS/ },
  'ids that do not exist': {
    name: 'become',
    errno: 22,
    around: { isRoot: true, canAdminister: true, idsMax: 65_536 },
    hint: /up to 65535.*`\{ first: 61440, count: 4096 \}`/,
  },
  'nobody who can be seen': { around: {}, hint: /dmesg.*RestrictNamespaces=no/ },
}

for (const [who, { name = 'clone', errno = EPERM, around, hint }] of Object.entries(whoRefused)) {
  test(`if ${who} refused, the hint names it and what to change`, () => {
    assert.match(failedAt(name, errno, around).hint, hint)
  })
}

test('an old kernel is named as such where guests have no namespaces, too', () => {
  const confine = { do: 'confine' } as PlanRecord
  const around = { ...nowhere, kernel: [5, 10] } as const
  assert.match(
    String(adviseOn({ record: confine, step: 'confine the cell', errno: 'ENOSYS' }, around)),
    /this is Linux 5\.10; cells need Linux 5\.13 or later/,
  )
})

test('where both walls were refused, the error says how to get each, and claims no level that was not tried', () => {
  const refusals = ['namespaces', 'landlock'].map(
    (wall) => new WallRefused(wall as 'namespaces', { detail: `no ${wall}.`, hint: `Allow ${wall}.` }),
  )
  const both = belowMinimum({ level: 'none', minimum: 'restricted', refusals })
  assert.equal(both.hint, 'Allow namespaces.\nAllow landlock.')
  assert.match(
    both.message,
    /reaches level none at most; restricted is required\. no namespaces\. no landlock\./,
  )
  const first = belowMinimum({ level: 'restricted', minimum: 'standard', refusals: refusals.slice(0, 1) })
  assert.match(first.hint, /^Allow namespaces\. To accept the lower level, if `lazaret doctor` reaches it/)
})

test('there is no advice for failures other than the machine’s policy', () => {
  const clone: PlanRecord = { do: 'clone', flags: 0 }
  assert.equal(
    adviseOn({ record: clone, step: 'create the namespaces', errno: 'ENOMEM' }, nowhere),
    undefined,
  )
  assert.equal(adviseOn({ record: { do: 'serve' }, step: 'wait', errno: 'EPERM' }, nowhere), undefined)
  assert.equal(isExhaustion({ record: clone, step: 'create the namespaces', errno: 'EPERM' }, nowhere), false)
})
