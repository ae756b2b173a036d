import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'

import { planEtcFiles } from '../../../src/jail/view/etc-files.ts'
import { exampleView, ownGround, planExample, recordsOf } from '../cell/example-cell.ts'

const files = planEtcFiles('')

test('guests find themselves, root and nobody, none of whom can log in as root', () => {
  const users = String(files['/etc/passwd'])
    .trim()
    .split('\n')
    .map((line) => line.split(':'))
  assert.deepEqual(
    users.map(([name, , uid, gid]) => [name, uid, gid]),
    [
      ['root', '0', '0'],
      ['guest', '1000', '1000'],
      ['nobody', '65534', '65534'],
    ],
  )
  assert.ok(users.every((fields) => fields.length === 7))
  const groups = String(files['/etc/group'])
    .trim()
    .split('\n')
    .map((line) => line.split(':')[2])
  assert.deepEqual(groups, ['0', '1000', '65534'])
})

test('nothing in /etc says which machine this is', () => {
  const all = Object.values(files).join('\n')
  assert.equal(files['/etc/hostname'], 'cell\n')
  const own = hostname()
  assert.ok(own === 'localhost' || own === 'cell' || !all.includes(own))
})

test('services know the usual ports by both protocols', () => {
  assert.match(String(files['/etc/services']), /^https\t443\/tcp$/m)
  assert.match(String(files['/etc/services']), /^domain\t53\/udp$/m)
})

test('the host’s name servers are shown only where its network is shared', () => {
  const resolvConf = (network: 'none' | 'host') =>
    recordsOf(planExample(ownGround, { network }), 'file')
      .find(({ path }) => path === 'etc/resolv.conf')
      ?.content.toString()
  assert.equal(resolvConf('none'), '')
  assert.equal(resolvConf('host'), exampleView.resolvConf)
})

test('generated files can be read by all and written by none', () => {
  for (const { mode, path } of recordsOf(planExample(ownGround), 'file')) assert.equal(mode, 0o444, path)
})
