/** Sources of a guest's packages: a virtual environment, folders that `readable` shows, Python's variables. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import type { LazaretOptions, RunRequest } from '../../../src/index.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'

// Not below /tmp: a guest has its own /tmp, so no interpreter can be shown there.
const folder = realpathSync(mkdtempSync('/var/tmp/lazaret-environments-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const python = findPythonWith(['venv'])
const skip = python === null && 'no Python with the module venv'

const packages = join(folder, 'packages')
const outer = join(folder, 'outer')
for (const [path, text] of [
  [
    join(packages, 'greetings/__init__.py'),
    'def greet(name):\n    return check(name)\n\n\ndef check(name):\n    return "hello " + name\n',
  ],
  [join(outer, 'outermost.py'), 'name = "outermost"\n'],
] as const) {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

async function run(options: LazaretOptions, request: Omit<RunRequest, 'language'>) {
  await using lazaret = createLazaret(options)
  return await lazaret.run({ ...request, language: 'python' })
}

/** Creates a virtual environment without pip but with a package, and returns its interpreter. */
function makeEnvironment(): string {
  const environment = join(folder, 'environment')
  execFileSync(python?.path ?? '', ['-I', '-m', 'venv', '--without-pip', environment])
  const library = join(environment, 'lib')
  const [version = ''] = readdirSync(library)
  const inside = join(library, version, 'site-packages/installed')
  mkdirSync(inside, { recursive: true })
  writeFileSync(join(inside, '__init__.py'), 'name = "from the environment"\n')
  return join(environment, 'bin/python')
}

test(
  'an environment whose interpreter is configured brings its packages, also to child processes',
  { skip },
  async () => {
    const interpreter = makeEnvironment()
    const { value, outcome, stderr } = await run(
      { toolchains: { python: interpreter } },
      {
        code: `import installed, subprocess, sys
child = subprocess.run([sys.executable, "-c", "import installed; print(installed.name)"], capture_output=True, text=True)
[installed.name, child.stdout, sys.prefix, sys.prefix != sys.base_prefix]`,
      },
    )
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.deepEqual(value, [
      'from the environment',
      'from the environment\n',
      join(folder, 'environment'),
      true,
    ])
  },
)

test('a folder that readable shows is imported from where the request puts it on PYTHONPATH', async () => {
  const readable = [{ host: packages, guest: '/packages' }]
  const { value, stderr } = await run(
    { readable },
    {
      code: `import greetings, os, subprocess, sys
child = subprocess.run([sys.executable, "-c", "import greetings"], stderr=-1)
[greetings.greet("you"), greetings.__file__, child.returncode, sys.path[0], os.getcwd()]`,
      env: { PYTHONPATH: '/packages' },
    },
  )
  assert.deepEqual(
    value,
    ['hello you', '/packages/greetings/__init__.py', 0, '/workspace', '/workspace'],
    stderr,
  )
})

test('a process that multiprocessing starts anew finds them, too', async () => {
  const { stdout, stderr } = await run(
    { readable: [{ host: packages, guest: '/packages' }] },
    {
      code: `import multiprocessing, greetings, mine
def work(name):
    print(greetings.greet(mine.name + name))
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=work, args=("!",))
    process.start()
    process.join()`,
      files: { 'mine.py': 'name = "you"\n' },
      env: { PYTHONPATH: '/packages' },
    },
  )
  assert.equal(stdout, 'hello you!\n', stderr)
})

test('frames of such packages are left out of a traceback, those of the workspace are not', async () => {
  const { stderr, outcome } = await run(
    { readable: [{ host: packages, guest: '/packages' }] },
    {
      code: 'import mine\nmine.call()',
      files: { 'lib/mine.py': 'import greetings\ndef call():\n    greetings.greet(None)\n' },
      env: { PYTHONPATH: '/workspace/lib:/packages' },
    },
  )
  assert.equal(outcome.kind, 'failed')
  assert.deepEqual(
    [...stderr.matchAll(/File "(.*?)", line (\d)/g)].map(([, file, line]) => [file, line]),
    [
      ['<code>', '2'],
      ['/workspace/lib/mine.py', '3'],
    ],
  )
})

test('without such a variable the folder is not on the path', async () => {
  const readable = [{ host: outer, guest: '/outer' }]
  const request = { code: 'import sys\n[sys.flags.isolated, "/outer" in sys.path]', env: { OTHER: '/outer' } }
  assert.deepEqual((await run({ readable }, request)).value, [1, false])
})

test('a module of the workspace with the name of a library module does not prevent the harness from starting', async () => {
  const files = { 'binascii.py': 'raise RuntimeError', '_json.py': 'raise RuntimeError', 'linecache.py': '' }
  for (const env of [{}, { PYTHONPATH: '/workspace' }]) {
    const { value, stderr } = await run({}, { code: '[1 + 1]', files, env })
    assert.deepEqual(value, [2], stderr)
  }
})
