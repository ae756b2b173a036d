/** `lazaret env`: every command, with local files, and its messages about bad ones. */
import assert from 'node:assert/strict'
import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { makeNpmTarball } from '../../../environments/archives.ts'
import { greeting, withoutNpm } from '../../../environments/packages.ts'
import { spawnCli, runCli } from '../spawn-cli.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const greet = { files: { 'index.js': 'module.exports = () => "hello"\n' } }

test('an environment is made, used, listed, locked, updated and removed', { skip: withoutNpm }, async () => {
  await using folder = await createTemporaryFolder()
  // Guests with separate ids must be able to enter it.
  await chmod(folder.path, 0o755)
  const tarball = await makeNpmTarball(folder.path, greeting, greet)
  const surroundings = { cwd: folder.path, env: { XDG_DATA_HOME: folder.path } }
  const lazaret = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await runCli(words, surroundings)
    assert.equal(exitCode, 0, stderr)
    return stdout
  }
  const headline = /^site {2}0 from pip, 1 from npm {2}\d+(?:\.\d)? (?:B|KiB) in 3 files {2}\d{4}-/
  assert.match(await lazaret('env', 'create', 'site', '--offline', '--npm-tarball', tarball), headline)
  const program = ['-l', 'javascript', '-e', "import greet from 'greeting'; greet()"]
  assert.equal(await lazaret('run', '--env-name', 'site', ...program), "'hello'\n")
  assert.match(await lazaret('env', 'list'), headline)
  assert.match(await lazaret('env', 'inspect', 'site'), /\nnpm {5}greeting 3\.0\.1\n$/)
  const inspected = JSON.parse(await lazaret('env', 'inspect', 'site', '--json')) as { hash: string }
  const updated = JSON.parse(await lazaret('env', 'update', 'site', '--json')) as { hash: string }
  assert.equal(updated.hash, inspected.hash)
  await lazaret('env', 'remove', 'site')
  assert.equal(await lazaret('env', 'list'), '')
  assert.equal(await lazaret('env', 'prune'), '')
})

test('without environments, the list says so and where it looked', async () => {
  await using folder = await createTemporaryFolder()
  const surroundings = { cwd: folder.path, env: { XDG_DATA_HOME: join(folder.path, 'missing') } }
  const place = join(folder.path, 'missing/lazaret/environments')
  const said = `lazaret: there are no environments in ${place}.\n`
  const list = await runCli(['env', 'list'], surroundings)
  assert.deepEqual([list.exitCode, list.stdout, list.stderr], [0, '', said])
  const json = await runCli(['env', 'list', '--json'], surroundings)
  assert.deepEqual([json.exitCode, JSON.parse(json.stdout)], [0, { environments: [] }])
  const other = join(folder.path, 'own')
  const config = join(folder.path, 'own.json')
  await writeFile(config, JSON.stringify({ environments: { folder: other } }))
  const { stderr } = await runCli(['env', 'list', '--config', config], surroundings)
  assert.equal(stderr, `lazaret: there are no environments in ${other}.\n`)
})

test('wrong files and names are named, and what to do', async () => {
  await using folder = await createTemporaryFolder()
  const at = (name: string) => join(folder.path, name)
  await writeFile(at('requirements.txt'), '--index-url http://127.0.0.1\nsix\n')
  await writeFile(at('package.json'), '{ "dependencies": { "mine": "file:../mine" } }')
  await writeFile(at('lock.json'), '[]')
  const surroundings = { cwd: folder.path, env: { XDG_DATA_HOME: folder.path } }
  const wrong: Record<string, readonly string[]> = {
    'has the option "--index-url': ['--requirements', 'requirements.txt'],
    'mine does not come from a registry': ['--package-json', 'package.json'],
    'lock.json has no lock': ['--lock', 'lock.json'],
    'names no package': [],
    'missing.txt': ['--requirements', 'missing.txt'],
  }
  for (const [printed, words] of Object.entries(wrong)) {
    const { exitCode, stderr } = await runCli(['env', 'create', 'x', ...words], surroundings)
    assert.equal(exitCode, 64, stderr)
    assert.ok(stderr.includes(printed), stderr)
  }
  const { exitCode, stderr } = await runCli(['env', 'remove', 'nowhere'], surroundings)
  assert.deepEqual([exitCode, /no such environment/.test(stderr)], [64, true])
})

test(
  'a build that is killed leaves no name, and the next prune removes its files',
  { skip: withoutNpm },
  async () => {
    await using folder = await createTemporaryFolder()
    await chmod(folder.path, 0o755)
    const tarball = await makeNpmTarball(folder.path, greeting, greet)
    const env = { XDG_DATA_HOME: folder.path }
    const store = join(folder.path, 'lazaret/environments')
    for (const line of ['install-npm', 'take-out']) {
      const child = spawnCli(['env', 'create', 'x', '--offline', '--npm-tarball', tarball], { env })
      const ended = new Promise((resolve) => child.once('close', resolve))
      let printed = ''
      child.stderr.on('data', (bytes: Buffer) => {
        printed += bytes.toString()
        if (printed.includes(line)) child.kill('SIGKILL')
      })
      child.stdout.resume()
      await ended
      assert.ok(printed.includes(line), printed)
    }
    const names = await readdir(join(store, 'names')).catch(() => [])
    assert.deepEqual(names, [])
    const { exitCode } = await runCli(['env', 'prune'], { env })
    assert.deepEqual([exitCode, await readdir(join(store, 'building'))], [0, []])
  },
)
