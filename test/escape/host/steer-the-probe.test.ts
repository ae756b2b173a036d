/**
 * Programs that a stranger puts into the current folder, the environment or a folder of PATH, so that the host executes
 * them, without a wall, while it looks for interpreters.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

import { createTemporaryFolder } from '../../adapters/cli/temporary-folder.ts'
import type { TemporaryFolder } from '../../adapters/cli/temporary-folder.ts'
import { Toolchains } from '../../../src/runtimes/packages/toolchains.ts'
import { createLazaret } from '../../support/create-lazaret.ts'

const home = process.cwd()
const environment = { ...process.env }
let folder: TemporaryFolder

beforeEach(async () => {
  folder = await createTemporaryFolder()
})
afterEach(async () => {
  process.chdir(home)
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
  await folder[Symbol.asyncDispose]()
})

const inFolder = (...names: string[]) => join(folder.path, ...names)

/** A program that records where and how it was started, and answers like the real program of its name. */
function plantProgram(path: string, answer = 'echo 3.9.9'): string {
  writeFileSync(path, `#!/bin/sh\n{ pwd; env; } > '${inFolder('noted')}'\n${answer}\n`, { mode: 0o755 })
  return path
}

const noted = () =>
  existsSync(inFolder('noted')) ? readFileSync(inFolder('noted'), 'utf8').trim().split('\n') : []

async function probe(toolchains = {}) {
  await using lazaret = createLazaret({ toolchains, onEvent: () => undefined })
  return (await lazaret.probe()).toolchains
}

const steering = {
  NODE_OPTIONS: '--no-such-option',
  BUN_OPTIONS: '--no-such-option',
  BUN_CONFIG: './bunfig.toml',
  PYTHONPATH: '.',
  PYTHONHOME: '/nowhere',
  PYTHONSTARTUP: './sitecustomize.py',
  PYENV_VERSION: '0.0.0',
  LD_PRELOAD: './preload.so',
  LD_LIBRARY_PATH: '.',
  BASH_ENV: './.env',
  ENV: './.env',
}

test('an interpreter is asked in the root folder, without variables of this process', async () => {
  for (const [name, ask] of Object.entries({
    bun: (bun: string) => probe({ bun }),
    node: (node: string) => probe({ node }),
    python: (python: string) => new Toolchains({ python }).python(),
  })) {
    process.chdir(folder.path)
    Object.assign(process.env, steering)
    await ask(plantProgram(inFolder(name)))
    const [where, ...variables] = noted()
    assert.equal(where, '/', name)
    const names = variables.map((line) => line.split('=')[0])
    // A shell adds the last three.
    const own = ['HOME', 'LC_ALL', 'PATH', 'OLDPWD', 'PWD', 'SHLVL', '_']
    assert.deepEqual(
      names.filter((variable) => !own.includes(variable ?? '')),
      [],
      name,
    )
  }
})

test('files of the current folder and variables change no answer', async () => {
  const plain = await probe()
  process.chdir(folder.path)
  const evil = `require('fs').writeFileSync('${inFolder('noted')}', 'x')`
  const python = `open('${inFolder('noted')}', 'w').write('x')\n`
  for (const [name, text] of Object.entries({
    'bunfig.toml': 'preload = ["./evil.js"]\n[run]\nbun = true\n',
    '.env': `NODE_OPTIONS=--require ./evil.js\ntouch '${inFolder('noted')}'\n`,
    'package.json': '{"type":"commonjs","engines":{"node":"0.1"}}',
    'evil.js': evil,
    'sitecustomize.py': python,
    'usercustomize.py': python,
    'sysconfig.py': python,
    'site.py': python,
    '.python-version': '0.0.0\n',
    '.tool-versions': 'python 0.0.0\nbun 0.0.0\nnodejs 0.0.0\n',
    'pyvenv.cfg': `home = ${folder.path}\n`,
  }))
    writeFileSync(inFolder(name), text)
  Object.assign(process.env, steering)
  assert.deepEqual(await probe(), plain)
  assert.deepEqual(noted(), [])
})

test('files among the packages of an interpreter are not executed', () => {
  const python = new Toolchains().python()
  assert.ok(python)
  execFileSync(python.path, ['-I', '-m', 'venv', '--without-pip', inFolder('environment')], { cwd: '/' })
  const library = inFolder(
    'environment',
    'lib',
    `python${python.version.replace(/\.\d+$/, '')}`,
    'site-packages',
  )
  writeFileSync(join(library, 'evil.pth'), `import os; open('${inFolder('noted')}', 'w')\n`)
  writeFileSync(join(library, 'sitecustomize.py'), `open('${inFolder('noted')}', 'w')\n`)
  const path = inFolder('environment', 'bin', 'python3')
  const found = new Toolchains({ python: path }).python()
  assert.equal(found?.path, path)
  assert.ok(found.folders.includes(inFolder('environment')))
  assert.equal(existsSync(inFolder('noted')), false)
})

const isRoot = process.geteuid?.() === 0
const strangers = 12_345

/** Ways in which a program of another user gets into a folder of PATH. */
const ways: Readonly<Record<string, () => string>> = {
  'a relative folder': () => {
    plantProgram(inFolder('python3'))
    process.chdir(folder.path)
    return '.'
  },
  'a folder that everybody can write': () => {
    mkdirSync(inFolder('open'))
    chmodSync(inFolder('open'), 0o777)
    plantProgram(inFolder('open', 'python3'))
    return inFolder('open')
  },
  'a folder below one that everybody can write': () => {
    mkdirSync(inFolder('open', 'bin'), { recursive: true })
    chmodSync(inFolder('open'), 0o777)
    plantProgram(inFolder('open', 'bin', 'python3'))
    return inFolder('open', 'bin')
  },
  'a link that leads through such a folder': () => {
    mkdirSync(inFolder('open'))
    chmodSync(inFolder('open'), 0o777)
    plantProgram(inFolder('open', 'real'))
    mkdirSync(inFolder('bin'))
    symlinkSync('../open/real', inFolder('bin', 'python3'))
    return inFolder('bin')
  },
  'a program that everybody can write': () => {
    chmodSync(plantProgram(inFolder('python3')), 0o777)
    return folder.path
  },
  'a program that its group can write': () => {
    chmodSync(plantProgram(inFolder('python3')), 0o775)
    return folder.path
  },
  ...(isRoot && {
    'a folder of another user': () => {
      mkdirSync(inFolder('theirs'))
      plantProgram(inFolder('theirs', 'python3'))
      chownSync(inFolder('theirs'), strangers, strangers)
      return inFolder('theirs')
    },
    'a program of another user in a folder as /tmp is': () => {
      mkdirSync(inFolder('sticky'))
      chmodSync(inFolder('sticky'), 0o1777)
      chownSync(plantProgram(inFolder('sticky', 'python3')), strangers, strangers)
      return inFolder('sticky')
    },
  }),
}

for (const [way, plant] of Object.entries(ways)) {
  test(`PATH names ${way}: its python3 is not executed`, () => {
    process.env['PATH'] = `${plant()}:${environment['PATH']}`
    assert.notEqual(new Toolchains().python(), null)
    assert.deepEqual(noted(), [])
  })
}

test('a program of this user in a folder like /tmp is accepted', () => {
  mkdirSync(inFolder('sticky'))
  chmodSync(inFolder('sticky'), 0o1777)
  plantProgram(inFolder('sticky', 'python3'), `printf '%s\\n' /usr/bin/python3 3.11.0`)
  process.env['PATH'] = inFolder('sticky')
  assert.equal(new Toolchains().python()?.version, '3.11.0')
})

test('the refusal says which interpreter was not used, and that it can be named', () => {
  process.env['PATH'] = ways['a folder that everybody can write']?.() ?? ''
  const toolchains = new Toolchains()
  toolchains.python()
  const { message, hint } = toolchains.refuse('python', { detail: '', hint: '' })
  assert.match(message, /open\/python3 on PATH is not used: .*open can be written by everybody/)
  assert.match(hint, /toolchains\.python/)
})
