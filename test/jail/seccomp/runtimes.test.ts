import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

import type { SeccompOptions } from '../../../src/jail/seccomp/policy.ts'
import { FilteredCommands, hasCommand, reasonToSkip } from './filtered-command.ts'

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
const missing = (name: string) => (hasCommand(name) ? false : `${name} is not installed`)

const bun = findBun()

const everyday = [
  { title: 'bash', command: ['bash', fixture('everyday.sh')], skip: missing('bash') },
  { title: 'CPython', command: ['python3', fixture('everyday.py')], skip: missing('python3') },
  { title: 'Node', command: [process.execPath, fixture('everyday.node.mjs')], skip: false },
  {
    title: 'Bun',
    command: [bun ?? '', fixture('everyday.bun.mjs')],
    skip: bun === undefined && 'Bun is not installed for this machine',
  },
  { title: 'a C compiler', command: ['bash', fixture('everyday-build.sh')], skip: missing('bash') },
  { title: 'git', command: ['bash', fixture('everyday-git.sh')], skip: missing('git') },
]

const situations: readonly { title: string; options: Omit<SeccompOptions, 'architecture'> }[] = [
  { title: 'where a cgroup holds memory', options: { memoryHeldByCgroup: true } },
  { title: 'where no cgroup holds memory', options: { memoryHeldByCgroup: false } },
  {
    title: 'where the host’s namespaces are shared',
    options: { memoryHeldByCgroup: false, sharesHost: { network: true, owner: false } },
  },
]

describe('under the filter', { skip: reasonToSkip() }, () => {
  let commands: FilteredCommands
  before(() => {
    commands = new FilteredCommands()
  })
  after(() => commands[Symbol.dispose]())

  for (const { title, options } of situations) {
    it(`commands run filtered, ${title}`, async () => {
      const { stdout } = await commands.run(options, ['cat', '/proc/self/status'])
      assert.match(stdout, /^Seccomp:\s+2$/m)
      assert.match(stdout, /^NoNewPrivs:\s+1$/m)
    })

    for (const { title: program, command, skip } of everyday) {
      it(`${program} does its everyday work, ${title}`, { skip }, async () => {
        const lacks = [
          ...(options.sharesHost === undefined ? [] : ['no-watches']),
          ...(options.memoryHeldByCgroup ? [] : ['no-sendfile']),
        ]
        const words = [...command, ...lacks]
        assert.deepEqual(await commands.run(options, words), {
          exitCode: 0,
          signal: null,
          stdout: 'done\n',
          stderr: '',
        })
      })
    }
  }

  it('Node runs workers but no processes where it may not spawn', async () => {
    const code = `
      const { spawnSync } = require('node:child_process')
      const { Worker } = require('node:worker_threads')
      new Worker('', { eval: true }).on('exit', (code) => console.log(code, spawnSync('true').error.code))`
    const ended = await commands.run({ memoryHeldByCgroup: true, canSpawn: false }, [
      process.execPath,
      '-e',
      code,
    ])
    assert.deepEqual(ended, { exitCode: 0, signal: null, stdout: '0 EPERM\n', stderr: '' })
  })

  it('bash cannot fork where it may not spawn', async () => {
    const command = ['bash', '--norc', '-c', 'echo before; (echo forked); echo after']
    const ended = await commands.run({ memoryHeldByCgroup: true, canSpawn: false }, command)
    assert.equal(ended.stdout.startsWith('before\n'), true)
    assert.doesNotMatch(ended.stdout, /forked/)
    assert.match(ended.stderr, /fork/)
  })
})

function findBun(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@oven/bun-linux-${process.arch}/bin/bun`)
  } catch {
    return undefined
  }
}
