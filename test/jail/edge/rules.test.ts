import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readAddress, writeAddress } from '../../../src/jail/edge/address-ranges.ts'
import { toHostName } from '../../../src/jail/edge/host-names.ts'
import { explainBadRule, networkKindOf, NetworkRules } from '../../../src/jail/edge/rules.ts'

const noAddress: readonly string[] = []

test('a name is in one form: lower case, ASCII, without a dot at the end', () => {
  assert.equal(toHostName('API.Example.COM.'), 'api.example.com')
  assert.equal(toHostName('BÜCHER.example'), 'xn--bcher-kva.example')
  assert.equal(toHostName('_srv.example'), '_srv.example')
  for (const bad of [
    '',
    '.',
    'a..b',
    '-a.example',
    'a b',
    'a/b',
    'a\0b',
    'x'.repeat(64),
    `${'a.'.repeat(127)}aa`,
  ])
    assert.equal(toHostName(bad), undefined, bad)
  // Programs read these as addresses.
  for (const bad of ['127.1', '2130706433', '0x7f000001', 'example.1', 'example.0x1', '０x7f.1', '①②⑦.1'])
    assert.equal(toHostName(bad), undefined, bad)
})

test('an invalid rule is refused with the reason', () => {
  for (const bad of [
    ...[
      '',
      '*',
      '*.',
      '**.example',
      'a.*.example',
      'http://example.com',
      'example.com/path',
      'user@example.com',
    ],
    ...['example.com:', 'example.com:0', 'example.com:65536', 'example.com:https', 'example.com:1e2'],
    ...['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '10.0.0/8', '10.0.0.0/8/8', '[::1', 'fe80::1%eth0'],
    // What no rule can allow, alone or with others.
    ...[
      '127.0.0.1',
      '127.0.0.0/8',
      '0.0.0.0',
      '0.0.0.0/0',
      '::1',
      '::/0',
      '[::ffff:10.0.0.0]/104',
      '198.18.5.5',
    ],
    ...['224.0.0.1', '255.255.255.255', '64:ff9b::/96', '*.localhost', 'db.localhost'],
  ])
    assert.notEqual(explainBadRule(bad), undefined, bad)
  for (const good of [
    'example.com',
    '*.example.com:443',
    '10.0.0.0/8:5432',
    '203.0.113.7',
    '[2001:db8::1]:8443',
    'localhost',
    '2001:db8::/32',
  ])
    assert.equal(explainBadRule(good), undefined, good)
})

test('a rule for the loopback of the host says how to name it', () => {
  for (const loopback of ['127.0.0.1:8080', '127.0.0.0/8', '[::1]:8080'])
    assert.match(explainBadRule(loopback) ?? '', /only `localhost`/, loopback)
  assert.match(explainBadRule('0.0.0.0/0') ?? '', /no rule can open/)
})

test('names are allowed as they are, and below a wildcard at any depth; `deny` wins', () => {
  const rules = new NetworkRules({
    allow: ['api.example.com', '*.example.org:8443', 'plain.example:80'],
    deny: ['internal.example.org', '*.secret.example.org', 'api.example.com:80'],
  })
  const verdicts = (name: string) => [80, 443, 8443].map((port) => rules.judgeNamedPort(name, port) ?? 'yes')
  assert.deepEqual(verdicts('api.example.com'), ['denied', 'yes', 'not-allowed'])
  assert.deepEqual(verdicts('a.b.example.org'), ['not-allowed', 'not-allowed', 'yes'])
  assert.deepEqual(verdicts('example.org'), ['not-allowed', 'not-allowed', 'not-allowed'])
  assert.deepEqual(verdicts('notexample.org'), ['not-allowed', 'not-allowed', 'not-allowed'])
  assert.deepEqual(verdicts('internal.example.org'), ['denied', 'denied', 'denied'])
  assert.deepEqual(verdicts('a.secret.example.org'), ['denied', 'denied', 'denied'])
  assert.deepEqual(verdicts('plain.example'), ['yes', 'not-allowed', 'not-allowed'])
  assert.equal(rules.judgeName('api.example.com'), undefined)
  assert.equal(rules.judgeName('internal.example.org'), 'denied')
  assert.equal(rules.judgeName('evil.example'), 'not-allowed')
})

test('addresses for special use are refused, unless a rule names a range inside of them', () => {
  const open = new NetworkRules({ allow: ['any.example'] })
  for (const address of [
    ...[
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '100.100.100.200',
      '169.254.169.254',
      '127.0.0.1',
      '0.0.0.0',
      '192.0.2.1',
    ],
    ...[
      '198.18.0.1',
      '224.0.0.251',
      '255.255.255.255',
      '240.0.0.1',
      '192.0.0.192',
      '::',
      '::1',
      '::ffff:8.8.8.8',
      '::7f00:1',
    ],
    ...[
      'fe80::1',
      'fe80::1%lo',
      'fd00:ec2::254',
      'fc00::1',
      'ff02::1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      '2001:0:a00:1::',
      'fec0::1',
    ],
  ])
    assert.equal(open.judgeAddress(address, 443, noAddress), 'special-address', address)
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00::1'])
    assert.equal(open.judgeAddress(address, 443, noAddress), undefined, address)

  const named = new NetworkRules({ allow: ['any.example', '10.1.0.0/16', '169.254.169.254:80', '8.0.0.0/7'] })
  assert.equal(named.judgeAddress('10.1.2.3', 443, noAddress), undefined)
  assert.equal(named.judgeAddress('10.2.2.3', 443, noAddress), 'special-address')
  assert.equal(named.judgeAddress('169.254.169.254', 80, noAddress), undefined)
  assert.equal(named.judgeAddress('169.254.169.254', 443, noAddress), 'special-address')
  assert.equal(named.judgeAddress('::ffff:10.1.2.3', 443, noAddress), 'special-address')
  // A range that contains a special-use range does not allow it.
  assert.equal(
    new NetworkRules({ allow: ['8.0.0.0/6'] }).judgeAddress('10.1.2.3', 443, noAddress),
    'special-address',
  )
})

test('the machine’s own addresses have to be named one by one', () => {
  const around = new NetworkRules({ allow: ['any.example', '10.0.0.0/24', '203.0.113.0/24'] })
  assert.equal(around.judgeAddress('10.0.0.5', 443, ['10.0.0.5']), 'special-address')
  assert.equal(around.judgeAddress('10.0.0.6', 443, ['10.0.0.5']), undefined)
  assert.equal(around.judgeAddress('8.8.4.4', 443, ['8.8.4.4']), 'special-address')
  const alone = new NetworkRules({ allow: ['10.0.0.5/32', '8.8.4.4'] })
  assert.equal(alone.judgeAddress('10.0.0.5', 443, ['10.0.0.5']), undefined)
  assert.equal(alone.judgeAddress('8.8.4.4', 443, ['8.8.4.4']), undefined)
})

test('denied ranges win over allowed names', () => {
  const rules = new NetworkRules({
    allow: ['any.example', '8.8.0.0/16'],
    deny: ['8.8.8.0/24', '2606:4700::/32'],
  })
  assert.equal(rules.judgeAddress('8.8.8.8', 443, noAddress), 'denied')
  assert.equal(rules.judgeAddress('8.8.4.4', 443, noAddress), undefined)
  assert.equal(rules.judgeAddress('2606:4700::1', 443, noAddress), 'denied')
})

test('a guest may connect to a literal address only if a range allows it', () => {
  const rules = new NetworkRules({ allow: ['any.example', '8.8.8.0/24:53'] })
  assert.equal(rules.judgeRawAddress('8.8.8.8', 53), undefined)
  assert.equal(rules.judgeRawAddress('8.8.8.8', 443), 'not-allowed')
  assert.equal(rules.judgeRawAddress('8.8.4.4', 53), 'not-allowed')
  assert.equal(rules.judgeRawAddress('::ffff:8.8.8.8', 53), 'not-allowed')
})

test('a policy with the host’s loopback or a private range is of another kind', () => {
  assert.equal(networkKindOf(), 'none')
  assert.equal(networkKindOf('host'), 'host')
  assert.equal(networkKindOf({ allow: ['example.com', '8.8.8.0/24'] }), 'policy')
  for (const rule of ['localhost:80', '10.1.0.0/16', '192.168.0.1', '169.254.169.254', '[fd00::]/8'])
    assert.equal(networkKindOf({ allow: ['example.com', rule] }), 'local-policy', rule)
})

test('addresses are converted to bytes and back unchanged', () => {
  for (const address of ['1.2.3.4', '2001:db8::1', 'fe80::', '::1', '1:2:3:4:5:6:7:8', '64:ff9b::102:304'])
    assert.equal(readAddress(writeAddress(address)), address)
  assert.deepEqual(writeAddress('::ffff:1.2.3.4'), Buffer.from('00000000000000000000ffff01020304', 'hex'))
})
