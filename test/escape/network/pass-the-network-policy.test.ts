/**
 * Bypassing a network policy: names that lead to special-use addresses, names that change between check and
 * connection, addresses in other forms, other protocols, and other ways to the sockets of relay and resolver.
 */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { after, afterEach, before, describe, it } from 'node:test'

import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { EchoServer } from '../../support/hosts/echo-server.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { PolicySandbox } from '../../support/policy-sandbox.ts'
import { levelHere } from '../../support/machine/level-here.ts'

const own = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

const needsNamespaces = (await levelHere()) === 'restricted' && 'without namespaces a policy is refused'
const needsAddress = needsNamespaces || (own === undefined && 'this machine has no address but its loopback')

describe('a guest with a network policy', { skip: needsNamespaces }, () => {
  const leaks = new LeakCheck()
  before(() => leaks.takeBaseline())
  afterEach(() => leaks.checkDisposed())

  it('reaches no address for special use, whatever name leads there', async () => {
    await using server = await EchoServer.open('0.0.0.0')
    const addresses: Record<string, string[]> = {
      'loopback.test': ['127.0.0.1'],
      'loopback6.test': ['::1'],
      'any.test': ['0.0.0.0'],
      'any6.test': ['::'],
      'mapped.test': ['::ffff:127.0.0.1'],
      'metadata.test': ['169.254.169.254'],
      'metadata6.test': ['fd00:ec2::254'],
      'local6.test': ['fe80::1', 'fe80::1%eth0'],
      'private.test': ['10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1'],
      'stand-in.test': ['198.18.0.1'],
      'translated.test': ['64:ff9b::7f00:1', '2002:7f00:1::1', '2001:0:1::1'],
      'crowd.test': ['224.0.0.1', '255.255.255.255', 'ff02::1'],
      'own.test': Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address)),
    }
    const names = Object.keys(addresses)
    const rules = names.map((name) => `${name}:${server.port}`)
    await using sandbox = await PolicySandbox.open({ allow: rules }, async (name) => addresses[name] ?? [])
    const code = `print(*[ask(name, ${server.port}) for name in ${JSON.stringify(names)}], sep=', ')`
    assert.equal(await sandbox.run(code), `${names.map(() => 'not found').join(', ')}\n`)
    assert.equal(server.arrivals, 0)
    const reasons = new Map(sandbox.refused.map(({ host, reason }) => [host, reason]))
    assert.deepEqual(
      names.map((name) => reasons.get(name)),
      names.map(() => 'special-address'),
    )
  })

  it('names the rule that a special address would need', async () => {
    const addresses: Record<string, string[]> = {
      'wiki.test': ['10.20.0.7'],
      'six.test': ['fd00::7'],
      'loopback.test': ['127.0.0.1'],
      'translated.test': ['64:ff9b::7f00:1'],
    }
    const allow = Object.keys(addresses).map((name) => `${name}:5432`)
    await using sandbox = await PolicySandbox.open({ allow }, async (name) => addresses[name] ?? [])
    const code = `for name in ${JSON.stringify(Object.keys(addresses))}: ask(name, 5432)`
    await sandbox.run(code)
    const known = sandbox.refused.map(({ host, missingRule }) => [host, missingRule])
    assert.deepEqual(
      new Map(known as [string, string | undefined][]),
      new Map([
        ['wiki.test', '10.20.0.7:5432'],
        ['six.test', '[fd00::7]:5432'],
        ['loopback.test', undefined],
        ['translated.test', undefined],
      ]),
    )
    assert.deepEqual(sandbox.report.wouldAllow, ['10.20.0.7:5432', '[fd00::7]:5432'])
  })

  it('is connected to the address that was checked, even if the name changes afterwards', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    let turn = 0
    // Resolves to a public address at first, and to this machine for the connection.
    const lookup = async () => (turn++ % 2 === 0 ? ['8.8.8.8'] : ['127.0.0.1'])
    await using sandbox = await PolicySandbox.open({ allow: [`rebinding.test:${server.port}`] }, lookup)
    assert.equal(await sandbox.run(`print(ask('rebinding.test', ${server.port}))`), 'reset\n')
    assert.equal(server.arrivals, 0)
    assert.deepEqual(sandbox.refused, [
      { host: 'rebinding.test', port: server.port, reason: 'special-address', count: 1 },
    ])
    assert.equal(turn, 2)
  })

  it('finds no other name, whatever its form', async () => {
    const asked: string[] = []
    const lookup = async (name: string) => {
      asked.push(name)
      return ['8.8.8.8']
    }
    const policy = { allow: ['good.test', '*.wild.test', 'münchen.test'], deny: ['bad.wild.test'] }
    await using sandbox = await PolicySandbox.open(policy, lookup)
    const code = `
for labels in [
    [b'good', b'test'], [b'GooD', b'TEST'], [b'a', b'wild', b'test'], [b'a', b'b', b'wild', b'test'], [b'xn--mnchen-3ya', b'test'],
]: print(resolve(question(labels))[:6])
for labels in [
    [b'evil', b'test'], [b'wild', b'test'], [b'good', b'test', b'evil'], [b'notgood', b'test'], [b'awild', b'test'],
    [b'good.test'], [b'good\\0', b'test'], [b'good', b'test\\0', b'evil'], [b'g\\xc3\\xb6od', b'test'], [],
    [b'bad', b'wild', b'test'], [b'BAD', b'wild', b'test'], [b'*', b'wild', b'test'], [b'a' * 63] * 3 + [b'a' * 52, b'wild', b'test'],
    [b'2130706433'], [b'0x7f000001'], [b'127', b'0', b'0', b'1'],
]:
    print(resolve(question(labels)))`
    const lines = (await sandbox.run(code)).trimEnd().split('\n')
    assert.deepEqual(
      lines.slice(0, 5),
      Array.from({ length: 5 }, () => 'ok 198'),
    )
    assert.deepEqual([...new Set(lines.slice(5))].toSorted(), ['malformed', 'no name'])
    assert.deepEqual([...new Set(asked)].toSorted(), [
      'a.b.wild.test',
      'a.wild.test',
      'good.test',
      'xn--mnchen-3ya.test',
    ])
  })

  it('reaches no name that is denied by an alias of it', async () => {
    const asked: (boolean | undefined)[] = []
    const lookup = async (name: string, wantsAliases?: boolean) => {
      asked.push(wantsAliases)
      if (name === 'alias.test') return ['8.8.8.8', 'Middle.test', 'internal.bad.test']
      return name === 'port.test' ? ['8.8.8.8', 'port.bad2.test'] : ['8.8.8.8', 'fine.test']
    }
    const policy = { allow: ['*.test'], deny: ['*.bad.test', 'port.bad2.test:443'] }
    await using sandbox = await PolicySandbox.open(policy, lookup)
    const code = `print(*[resolve(question([name, b'test']))[:6] for name in (b'alias', b'port', b'good')], sep=', ')
print(ask('port.test', 443, patience=5))`
    assert.equal(await sandbox.run(code), 'no nam, ok 198, ok 198\nreset\n')
    assert.deepEqual(sandbox.refused, [
      { host: 'alias.test', reason: 'denied', count: 1 },
      { host: 'port.test', port: 443, reason: 'denied', count: 1 },
    ])
    assert.ok(asked.every((one) => one === true))
  })

  it('gets no records that bypass the policy, and no answer to invalid questions', async () => {
    await using sandbox = await PolicySandbox.open({ allow: ['good.test'] }, async () => ['8.8.8.8'])
    const code = `
good = [b'good', b'test']
print(*[resolve(question(good, kind)) for kind in (28, 65, 64, 33, 16, 5, 15, 255, 252, 12)], sep=', ')
print(resolve(question(good, flags=0x2800)), resolve(question(good, count=2)), resolve(b'1234567890123'), sep=', ')
for silent in (b'', b'short', question(good, flags=0x8100)): print(resolve(silent, 0.2))
print(resolve(question(good), 20, ('127.0.0.2', 53)), resolve(question(good), 20, ('8.8.8.8', 53)), sep=', ')`
    assert.deepEqual((await sandbox.run(code)).trimEnd().split('\n'), [
      Array.from({ length: 10 }, () => 'ok').join(', '),
      'malformed, malformed, malformed',
      'TimeoutError',
      'TimeoutError',
      'TimeoutError',
      'Connection refused, Network is unreachable',
    ])
  })

  it('reaches no address directly, in any notation', async () => {
    await using server = await EchoServer.open('0.0.0.0')
    await using sandbox = await PolicySandbox.open({ allow: [`good.test:${server.port}`] }, async () => [
      '8.8.8.8',
    ])
    const { port } = server
    const forms = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.1',
      '::1',
      '::ffff:127.0.0.1',
      '0.0.0.0',
      own ?? '192.0.2.1',
    ]
    const others = [
      '198.18.0.1',
      '198.19.255.255',
      '8.8.8.8',
      '0x08080808',
      '2001:4860:4860::8888',
      '169.254.169.254',
    ]
    const code = `print(*[ask(form, ${port}) for form in ${JSON.stringify([...forms, ...others])}], sep='\\n')`
    const answers = (await sandbox.run(code)).trimEnd().split('\n')
    assert.equal(answers.length, forms.length + others.length)
    for (const answer of answers)
      assert.match(answer, /^(reset|Connection refused|Network is unreachable|Cannot assign .*)$/)
    assert.equal(server.arrivals, 0)
  })

  it('has only TCP to allowed hosts, and no raw sockets', async () => {
    await using sandbox = await PolicySandbox.open({ allow: ['good.test:443'] }, async () => ['8.8.8.8'])
    const code = `
address = resolve(question([b'good', b'test'])).split()[1]
print(resolve(b'x' * 100, 20, (address, 443)))
for kind, protocol in ((socket.SOCK_RAW, socket.IPPROTO_ICMP), (socket.SOCK_DGRAM, socket.IPPROTO_ICMP), (socket.SOCK_RAW, 255)):
    try: socket.socket(socket.AF_INET, kind, protocol); print('a socket')
    except OSError as error: print('refused')`
    assert.equal(await sandbox.run(code), 'Connection refused\nrefused\nrefused\nrefused\n')
  })

  it('cannot take the ports of resolver and listeners, nor reach the relay', async () => {
    await using sandbox = await PolicySandbox.open({ allow: ['good.test:8443'] }, async () => ['8.8.8.8'])
    const name = sandbox.machine.relays.process?.name ?? ''
    assert.notEqual(name, '')
    const code = `
def take(address, port, kind):
    one = socket.socket(socket.AF_INET, kind)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try: one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    except OSError: pass
    try:
        one.bind((address, port))
        if kind == socket.SOCK_STREAM: one.listen()
        return 'taken'
    except OSError as error: return os.strerror(error.errno)
print(take('127.0.0.1', 53, socket.SOCK_DGRAM), take('0.0.0.0', 8443, socket.SOCK_STREAM), take('198.18.0.1', 8443, socket.SOCK_STREAM), sep=', ')
one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try: one.connect('\\0${name}'); print('reached')
except OSError as error: print(os.strerror(error.errno))`
    assert.deepEqual((await sandbox.run(code)).trimEnd().split('\n'), [
      'Permission denied, Address already in use, Address already in use',
      'Connection refused',
    ])
  })

  it(
    'reaches a private address where a rule names it, and no other one of its range',
    { skip: needsAddress },
    async () => {
      await using server = await EchoServer.open('0.0.0.0')
      const address = own ?? ''
      const policy = { allow: [`${address}/32:${server.port}`, `named.test:${server.port}`] }
      await using sandbox = await PolicySandbox.open(policy, async () => ['127.0.0.1', address])
      const targets = [address, 'named.test', '127.0.0.1', '10.255.255.1']
      const code = `print(*[ask(target, ${server.port}) for target in ${JSON.stringify(targets)}], sep=', ')`
      const [raw, named, loopback, other] = (await sandbox.run(code)).trimEnd().split(', ')
      assert.deepEqual([raw, named, loopback], ['heard: hello', 'heard: hello', 'reset'])
      assert.equal(other, 'Network is unreachable')
      assert.equal(server.arrivals, 2)
    },
  )

  it('does not reach its own machine by a range that contains it', { skip: needsAddress }, async () => {
    await using server = await EchoServer.open('0.0.0.0')
    const address = own ?? ''
    const around = `${address.split('.').slice(0, 3).join('.')}.0/24:${server.port}`
    await using sandbox = await PolicySandbox.open({ allow: [around] })
    assert.equal(await sandbox.run(`print(ask('${address}', ${server.port}))`), 'reset\n')
    assert.equal(server.arrivals, 0)
  })

  it('reaches the loopback of the host only by `localhost`, and only the port of the rule', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    await using other = await EchoServer.open('127.0.0.1')
    await using sandbox = await PolicySandbox.open({ allow: [`localhost:${server.port}`] })
    const code = `print(ask('localhost', ${server.port}), ask('127.0.0.1', ${server.port}), ask('localhost', ${other.port}), ask('198.18.0.9', ${server.port}), sep=', ')`
    const answer = await sandbox.run(code)
    assert.equal(answer, 'heard: hello, heard: hello, Connection refused, reset\n')
    assert.deepEqual([server.arrivals, other.arrivals], [2, 0])
  })
})

describe('where cells have no namespaces', { skip: !needsNamespaces && 'cells have namespaces here' }, () => {
  const machine = new Machine({ uidRange: defaultUidRange })
  after(() => machine[Symbol.asyncDispose]())

  it('a policy is refused', async () => {
    await assert.rejects(PolicySandbox.open({ allow: ['good.test'] }), { code: 'LIMIT_UNENFORCEABLE' })
  })
})
