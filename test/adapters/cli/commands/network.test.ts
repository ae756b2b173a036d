/** `--allow`, `--deny` and `--secret`: what a program can reach, and what the user is told. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import { EchoServer } from '../../../support/hosts/echo-server.ts'
import { levelHere } from '../../../support/machine/level-here.ts'
import { runCli } from '../spawn-cli.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const isRestricted = (await levelHere()) === 'restricted'
const needsNamespaces = isRestricted && 'without namespaces a policy is refused'
const program = (where: number) => `
exec 2>/dev/null
exec 3<>/dev/tcp/localhost/${where} && printf hello >&3 && head -c 12 <&3 && echo
getent hosts evil.example || echo not found`

describe('the option --allow', { skip: needsNamespaces }, () => {
  it('is named to a program and a command that fail for want of a network', async () => {
    const lookUp = 'python3 -c \'import socket; socket.getaddrinfo("some.example", 80)\''
    const run = await runCli(['run', '-l', 'shell', '-e', lookUp])
    const exec = await runCli(['exec', '--', lookUp])
    for (const { stderr } of [run, exec])
      assert.match(stderr, /\nlazaret: it has no network; --allow <host> lets it reach a host\.\n/)
    const caught = await runCli(['run', '-l', 'shell', '-e', `${lookUp} || true`])
    assert.doesNotMatch(caught.stderr, /lazaret:/)
  })

  it('lets a program and a command reach the named hosts, and reports missing rules', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    const { port } = server
    const allow = ['--allow', `localhost:${port}`]
    const run = await runCli(['run', ...allow, '-l', 'shell', '-e', program(port)])
    const exec = await runCli(['exec', ...allow, '--', program(port)])
    for (const { stdout, stderr } of [run, exec]) {
      assert.equal(stdout, 'heard: hello\nnot found\n')
      assert.equal(
        stderr,
        'lazaret: The network policy refused evil.example (not-allowed).\n' +
          'lazaret: to allow this: --allow evil.example\n',
      )
    }
    assert.equal(server.arrivals, 2)
  })

  it('is named with a port to a program that fails at a port without a rule', async () => {
    const connect = 'exec 3<>/dev/tcp/localhost/8080'
    const run = await runCli(['run', '--allow', 'localhost', '-l', 'shell', '-e', connect])
    const exec = await runCli(['exec', '--allow', 'localhost', '--', connect])
    for (const { stderr } of [run, exec])
      assert.match(
        stderr,
        /\nlazaret: the network policy refuses ports that no rule names; --allow <host>:<port> names one\.\n/,
      )
  })

  it('overrides neither --deny nor the networks of the configuration', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    const { port } = server
    const asked = ['run', '--allow', `localhost:${port}`, '-l', 'shell', '-e', program(port)]
    const denied = await runCli([...asked, '--deny', `localhost:${port}`])
    assert.equal(denied.stdout, 'not found\n')
    assert.match(denied.stderr, new RegExp(`localhost:${port} \\(denied\\)`))
    await using folder = await createTemporaryFolder()
    const config = join(folder.path, 'lazaret.config.json')
    await writeFile(config, JSON.stringify({ access: { networks: ['none', 'policy'] } }))
    const refused = await runCli([...asked, '--config', config])
    assert.match(refused.stderr, /access\.networks/)
    assert.equal(server.arrivals, 0)
  })
})

describe('the option --secret', { skip: needsNamespaces }, () => {
  const value = 'sk-of-this-shell'
  const print = 'echo $API_KEY'

  it('gives a program and a command a placeholder for a variable of this shell', async () => {
    const options = ['--allow', 'localhost:9', '--secret', 'API_KEY@http://localhost:9']
    const run = await runCli(['run', ...options, '-l', 'shell', '-e', print], { env: { API_KEY: value } })
    const exec = await runCli(['exec', ...options, '--', print], { env: { API_KEY: value } })
    for (const { stdout, stderr } of [run, exec]) {
      assert.match(stdout, /^lazaret_[0-9a-f]{32}\n$/, stderr)
      assert.ok(!stderr.includes(value))
    }
  })

  it('is refused with an explanation if it is wrong, which never contains a value', async () => {
    const code = ['-l', 'shell', '-e', print]
    const allow = ['--allow', 'api.example.com']
    const absent = await runCli(['run', ...allow, '--secret', 'NO_SUCH_KEY@api.example.com', ...code])
    assert.match(absent.stderr, /no variable of that name/)
    const given = await runCli(['run', ...allow, '--secret', `API_KEY=${value}`, ...code])
    assert.match(given.stderr, /not of the form NAME@host/)
    const alone = await runCli(['run', '--secret', 'HOME@api.example.com', ...code])
    assert.match(alone.stderr, /--allow is missing/)
    const other = await runCli(['run', ...allow, '--secret', 'API_KEY@other.example.com', ...code], {
      env: { API_KEY: value },
    })
    assert.match(other.stderr, /other\.example\.com:443, which the network policy does not allow/)
    for (const { exitCode, stdout, stderr } of [absent, given, alone, other]) {
      assert.notEqual(exitCode, 0)
      assert.ok(!`${stdout}${stderr}`.includes(value))
    }
  })
})

describe('a wrong network option', () => {
  const code = ['-l', 'shell', '-e', 'true']
  it('is explained', async () => {
    const both = await runCli(['run', '--network', 'host', '--allow', 'good.example', ...code])
    assert.match(both.stderr, /--network and --allow cannot be combined/)
    const alone = await runCli(['run', '--deny', 'bad.example', ...code])
    assert.match(alone.stderr, /--deny restricts --allow/)
    const rule = await runCli(['run', '--allow', 'https://good.example/', ...code])
    assert.match(rule.stderr, /is a URL, and a rule names a host/)
    assert.ok([both, alone, rule].every(({ exitCode }) => exitCode !== 0))
  })

  it(
    'is refused if nothing can enforce it',
    { skip: !isRestricted && 'cells have namespaces here' },
    async () => {
      const minimum = ['--minimum', 'restricted']
      const refused = await runCli(['run', ...minimum, '--allow', 'good.example', ...code])
      assert.match(refused.stderr, /A network policy needs a network namespace/)
    },
  )
})
