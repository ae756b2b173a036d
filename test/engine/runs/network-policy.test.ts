/**
 * Network policies through the public API: every runtime and way to start, who may request one, and what is reported.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { verifyAudit } from '../../../src/observe/index.ts'
import { LazaretMetrics } from '../../../src/observe/metrics/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { EchoServer } from '../../support/hosts/echo-server.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { isWarm, runParked } from '../../support/run-parked.ts'
import { bun, node, python, shell } from '../../support/use-lazaret.ts'
import type { RunRequest } from '../../../src/index.ts'

const leaks = new LeakCheck()
await leaks.takeBaseline()
const server = await EchoServer.open('127.0.0.1')
const { port } = server
const metrics = new LazaretMetrics()
const lazaret = createLazaret({
  access: { networks: ['none', 'policy', 'local-policy'] },
  onEvent: metrics.hear,
})
const { level } = await lazaret.probe()
const needsNamespaces = level === 'restricted' && 'without namespaces a policy is refused'
after(async () => {
  await lazaret[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await leaks.checkDisposed()
})

const inNode = (target: number) => `
import { connect } from 'node:net'
await new Promise((resolve) => {
  const socket = connect(${target}, 'localhost', () => socket.end('hello'))
  let heard = ''
  socket.on('data', (data) => (heard += data)).on('error', (error) => resolve(heard = error.code)).on('close', () => resolve(heard))
}).then((heard) => console.log(heard))`
const inPython = (target: number) => `
import socket
try:
    one = socket.create_connection(('localhost', ${target}))
    one.sendall(b'hello')
    one.shutdown(socket.SHUT_WR)
    print(one.makefile().read())
except ConnectionRefusedError: print('ECONNREFUSED')`
const inShell = (target: number) => `
exec 2>/dev/null
if exec 3<>/dev/tcp/localhost/${target}; then printf hello >&3; head -c 12 <&3; echo; else echo ECONNREFUSED; fi`

const programs = [
  ['Node', node, inNode],
  ['Bun', bun, inNode],
  ['Python', python, inPython],
  ['bash', shell, inShell],
] as const

describe('a run with a network policy', { skip: needsNamespaces }, () => {
  for (const [name, runtime, program] of programs)
    it(`reaches only named hosts, in ${name}, cold and warm`, async () => {
      const network = { allow: [`localhost:${port}`] }
      const request = (target: number): RunRequest => ({ ...runtime, code: program(target), network })
      const cold = await lazaret.run(request(port))
      assert.deepEqual([cold.stdout.trim(), cold.stderr], ['heard: hello', ''])
      assert.deepEqual(cold.receipt.network, {
        hosts: [{ host: 'localhost', port, connections: 1, sentBytes: 5, receivedBytes: 12 }],
        refused: [],
        unlisted: 0,
        wouldAllow: [],
      })
      const warm = await runParked(lazaret)(request(port))
      assert.ok(isWarm(warm))
      assert.equal(warm.stdout.trim(), 'heard: hello')
      assert.equal(warm.receipt.network?.hosts[0]?.connections, 1)
      const other = await lazaret.run(request(port === 1 ? 2 : 1))
      assert.equal(other.stdout.trim(), 'ECONNREFUSED')
    })

  it('reports what was refused, and which rule was missing', async () => {
    const code = `
import socket
for host in ('evil.example', 'EVIL.example', '1.1.1.1'):
    try: socket.create_connection((host, 443))
    except OSError as error: print(type(error).__name__, error.errno)`
    const { stdout, receipt } = await lazaret.run({ ...python, code, network: { allow: ['good.example'] } })
    assert.deepEqual(stdout.trim().split('\n'), ['gaierror -2', 'gaierror -2', 'OSError 101'])
    assert.deepEqual(receipt.network?.refused, [
      { host: 'evil.example', reason: 'not-allowed', count: 1 },
      { host: 'EVIL.example', reason: 'not-allowed', count: 1 },
    ])
  })

  it('counts its connections and bytes separately from those of concurrent runs', async () => {
    const network = { allow: [`localhost:${port}`] }
    const results = await Promise.all(
      Array.from({ length: 8 }, () => lazaret.run({ ...python, code: inPython(port), network })),
    )
    for (const { stdout, receipt } of results) {
      assert.equal(stdout.trim(), 'heard: hello')
      assert.deepEqual(receipt.network?.hosts, [
        { host: 'localhost', port, connections: 1, sentBytes: 5, receivedBytes: 12 },
      ])
    }
  })

  it('works after many runs were aborted during their start', async () => {
    const network = { allow: [`localhost:${port}`] }
    const request = { ...python, code: inPython(port), network }
    await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const giveUp = new AbortController()
        const running = lazaret.run({ ...request, signal: giveUp.signal })
        for (let turn = 0; turn < index; turn++) await nextTurn()
        giveUp.abort()
        await running
      }),
    )
    const { stdout } = await runParked(lazaret)(request)
    assert.equal(stdout.trim(), 'heard: hello')
  })

  it('is counted', async () => {
    const figure = async (name: string) => {
      const page = await metrics.page(lazaret)
      return Number(
        new RegExp(`^lazaret_network_${name.replace(/[{}]/g, '\\$&')} (\\d+)$`, 'm').exec(page)?.[1],
      )
    }
    const names = [
      'connections_total',
      'bytes_total{direction="sent"}',
      'bytes_total{direction="received"}',
      'refusals_total',
    ]
    const figures = () => Promise.all(names.map((name) => figure(name)))
    const earlier = await figures()
    const code = `${inPython(port)}\ntry: socket.getaddrinfo('evil.example', 80)\nexcept OSError: pass`
    await lazaret.run({ ...python, code, network: { allow: [`localhost:${port}`] } })
    const later = await figures()
    assert.deepEqual(
      later.map((value, index) => value - (earlier[index] ?? 0)),
      [1, 5, 12, 1],
    )
  })

  it('shares nothing with a run without a network', async () => {
    const { stdout, receipt } = await lazaret.run({ ...python, code: inPython(port) })
    assert.equal(stdout.trim(), 'ECONNREFUSED')
    assert.equal(receipt.network, undefined)
  })

  it('is not mentioned to a run without a network, whose text says that it has none', async () => {
    const code = "import socket\nsocket.getaddrinfo('some.example', 80)"
    const result = await lazaret.run({ ...python, code })
    assert.match(result.stderr, /Temporary failure/)
    assert.match(result.toText(), /\n\nThe program has no network \(`network: 'none'`\)/)
  })
})

describe('the audit log', { skip: needsNamespaces }, () => {
  it('has readable lines, whatever names a guest invents', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lazaret-audit-'))
    const file = join(folder, 'audit.log')
    try {
      await using audited = createLazaret({ access: { networks: ['policy'] }, audit: { file } })
      const code = `
import socket
for number in range(200):
    name = '.'.join([f'{number:063}', 'a' * 63, 'b' * 63, 'c' * 59, 'd'])
    try: socket.getaddrinfo(name, 80)
    except OSError: pass`
      const { receipt } = await audited.run({ ...python, code, network: { allow: ['good.example'] } })
      assert.equal(receipt.network?.refused.length, 32)
      assert.equal(receipt.network.refused[0]?.host.length, 253)
      const verified = await verifyAudit(file)
      assert.deepEqual([verified.problems, verified.records], [[], 1])
      const line = readFileSync(file, 'utf8')
      assert.match(line, /"network":"policy"/)
      assert.match(line, /"reason":"not-allowed"/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('a sandbox with a network policy', { skip: needsNamespaces }, () => {
  it('reaches named hosts from commands, commands with credentials and code contexts', async () => {
    await using sandbox = await lazaret.sandbox({ network: { allow: [`localhost:${port}`] } })
    const command = inShell(port)
    const plain = await sandbox.exec(command)
    assert.deepEqual([plain.stdout, plain.isolation.network], ['heard: hello\n', 'policy'])
    assert.equal(plain.receipt.network?.hosts[0]?.connections, 1)
    const secret = await sandbox.exec(`${command}; echo $KEY`, { env: { KEY: 'value' } })
    assert.deepEqual([secret.stdout, secret.isolation.space], ['heard: hello\nvalue\n', 'secure'])
    const context = await sandbox.createCodeContext({ language: 'python' })
    const { stdout } = await context.runCode(inPython(port))
    assert.equal(stdout.trim(), 'heard: hello')
    for (const [language, code] of [
      ['python', "import socket\ntry: socket.getaddrinfo('hidden.example', 80)\nexcept OSError: 7"],
      ['javascript', "await require('node:dns/promises').lookup('hidden.example').catch(() => 7)"],
    ] as const) {
      const refused = await sandbox.runCode(code, { language })
      assert.deepEqual(refused.receipt.network?.wouldAllow, ['hidden.example'], language)
      assert.match(refused.toText(), /network policy refused hidden\.example \(not-allowed\)\.$/, language)
      const { receipt } = await sandbox.runCode('7', { language })
      assert.deepEqual(receipt.network?.refused, [], language)
    }
    const failed = await sandbox.exec(
      'python3 -c "import socket; socket.create_connection((\'evil.example\', 80))"',
    )
    assert.match(failed.isolation.note ?? '', /refused evil\.example \(not-allowed\)/)
    assert.deepEqual(failed.receipt.network?.wouldAllow, ['evil.example'])
  })
})

describe('a policy for the network', () => {
  it('is refused unless the operator allows its kind', async () => {
    await using closed = createLazaret()
    await using open = createLazaret({ access: { networks: ['none', 'policy'] } })
    const denied = { code: 'ACCESS_DENIED' }
    const ask = { ...python, code: '' }
    await assert.rejects(closed.run({ ...ask, network: { allow: ['good.example'] } }), denied)
    await assert.rejects(closed.sandbox({ network: { allow: [] } }), denied)
    for (const rule of ['localhost:80', '10.0.0.0/8', '169.254.169.254'])
      await assert.rejects(open.run({ ...ask, network: { allow: [rule] } }), denied)
    await assert.rejects(open.warmUp({ ...python, network: { allow: ['192.168.0.0/16'] } }), denied)
  })

  it('is checked before anything runs, and the message names the rule', async () => {
    const ask = (network: unknown) => lazaret.run({ ...python, code: '', network } as RunRequest)
    const refused = { code: 'INVALID_REQUEST' }
    await assert.rejects(ask({ allow: ['https://example.com'] }), { ...refused, message: /network.*https/ })
    await assert.rejects(ask({ allow: ['127.0.0.1'] }), refused)
    await assert.rejects(ask({ allow: ['example.com'], proxy: true }), refused)
    await assert.rejects(ask({ deny: ['example.com'] }), refused)
    await assert.rejects(ask({ allow: ['example.com'], connectionsMax: 0 }), refused)
    await assert.rejects(
      ask({ allow: Array.from({ length: 65 }, (_, index) => `a.example:${index + 1}`) }),
      refused,
    )
    await assert.rejects(ask('policy'), refused)
  })

  it(
    'is refused if nothing can enforce it',
    { skip: !needsNamespaces && 'cells have namespaces here' },
    async () => {
      const refused = { code: 'LIMIT_UNENFORCEABLE' }
      const network = { allow: ['good.example'] }
      await assert.rejects(lazaret.run({ ...python, code: '', network }), refused)
      await assert.rejects(lazaret.sandbox({ network }), refused)
      await assert.rejects(lazaret.warmUp({ ...python, network }), refused)
    },
  )
})
