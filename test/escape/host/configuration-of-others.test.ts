/**
 * A configuration file of somebody else that the command finds: in a clone, in a parent folder, copied out of a cell,
 * or written by a guest into a workspace of the host. It names programs that the host would execute without a wall around
 * them, folders to show, ids, a lower wall.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

import { mainPath, runCli } from '../../adapters/cli/spawn-cli.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../adapters/cli/temporary-folder.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { optionRows } from '../../../src/engine/options/option-table.ts'
import { copyProgram } from '../../support/sources/copy-program.ts'
import { optionSamples } from '../../support/option-samples.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'

const fileName = 'lazaret.config.json'
const isRoot = process.geteuid?.() === 0
const stranger = 12_345
let folder: TemporaryFolder

beforeEach(async () => {
  folder = await createTemporaryFolder()
})
afterEach(async () => folder[Symbol.asyncDispose]())

const inFolder = (...names: string[]) => join(folder.path, ...names)
const wasExecuted = () => existsSync(inFolder('executed'))
const runs = ['run', '-l', 'python', '-e', '1 + 1']
const commands = [['doctor'], runs, ['exec', '--', 'echo ran']]

/** A configuration whose interpreter leaves a trace, and a Makefile for a program that needs no execute permission. */
function plant(place: string, config: object = { toolchains: { python: './tool' } }): void {
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, fileName), JSON.stringify(config), { mode: 0o644 })
  writeFileSync(join(place, 'tool'), `#!/bin/sh\ntouch '${inFolder('executed')}'\n`, { mode: 0o755 })
  writeFileSync(join(place, 'Makefile'), `$(shell touch '${inFolder('executed')}')\nall:\n`)
}

/** A user's commands in a folder with the trap: each reports the file and uses nothing of it. */
async function expectRefusal(cwd: string, pattern: RegExp, some = commands): Promise<void> {
  for (const args of some) {
    const { exitCode, stdout, stderr } = await runCli(args, { cwd })
    assert.deepEqual([exitCode, stdout], [64, ''], stderr)
    assert.match(stderr, pattern)
    assert.match(stderr, /so it may only narrow.*\n.*--config /)
  }
  assert.equal(wasExecuted(), false)
}

async function expectIgnored(cwd: string, pattern: RegExp): Promise<void> {
  const { exitCode, stdout: printed, stderr } = await runCli(runs, { cwd })
  assert.deepEqual([exitCode, printed.trim()], [0, '2'], stderr)
  assert.match(stderr, pattern)
  const { stdout } = await runCli(['doctor'], { cwd })
  assert.match(stdout, /^configuration: \S+ \(found in this folder or above, ignored: /m)
  assert.equal(wasExecuted(), false)
}

test('a clone of a repository whose configuration names an interpreter', async () => {
  plant(inFolder('clone'))
  mkdirSync(inFolder('clone', 'deep', 'down'), { recursive: true })
  await expectRefusal(inFolder('clone'), /asks for `toolchains`/)
  await expectRefusal(inFolder('clone', 'deep', 'down'), /asks for `toolchains`/, [runs])
  // The counter-check: with --config it is executed, because its owner asks for that.
  await runCli(['doctor', '--config', fileName], { cwd: inFolder('clone') })
  assert.equal(wasExecuted(), true)
})

/** Wider values than the current ones. */
const someWide: Record<string, unknown> = {
  readable: [{ host: '/etc', guest: '/shown' }],
  minimumProtection: 'none',
  uidRange: { first: 1_000, count: 65_536 },
  allowUnenforced: ['memoryBytes'],
  ceilings: { memoryBytes: 1e12 },
  defaults: { wallMs: 86_400_000 },
}

/** Also each option that a file found in this folder or above may not set. */
const wide: Record<string, unknown> = {
  ...Object.fromEntries(
    optionRows.flatMap(([name, { files }]) => (files === 'trusted' ? [[name, optionSamples[name]]] : [])),
  ),
  ...someWide,
}

test('a clone whose configuration shows folders, lowers the wall, takes ids, lifts limits', async () => {
  await using own = await createTemporaryFolder()
  mkdirSync(join(own.path, 'lazaret'))
  writeFileSync(join(own.path, 'lazaret', fileName), '{"ceilings":{"memoryBytes":1000000000}}', {
    mode: 0o644,
  })
  // The others of the first kind are in the next test.
  const oneOfEachKind = { ...someWide, toolchains: { python: './tool' } }
  for (const [key, value] of Object.entries(oneOfEachKind)) {
    plant(inFolder('clone'), { [key]: value })
    const args = ['run', '-l', 'shell', '-e', 'ls /shown']
    const env = { XDG_CONFIG_HOME: own.path }
    const { exitCode, stdout, stderr } = await runCli(args, { cwd: inFolder('clone'), env })
    assert.deepEqual([exitCode, stdout], [64, ''], key)
    assert.match(stderr, new RegExp(`may only narrow; it asks for \`${key}`))
  }
})

for (const uid of isRoot ? [0, stranger] : [undefined])
  test(`a clone whose configuration does all of this, found by ${uid === 0 ? 'root' : 'a user'}`, async () => {
    const found = { ...wide, toolchains: { python: './tool' } }
    plant(inFolder('clone'), found)
    mkdirSync(inFolder('home'))
    chmodSync(folder.path, 0o755)
    if (uid !== undefined)
      for (const name of ['', fileName, 'tool']) chownSync(inFolder('clone', name), uid, uid)
    const env = { HOME: inFolder('home'), XDG_CONFIG_HOME: inFolder('home') }
    for (const args of commands) {
      const who = uid === undefined ? {} : { uid, gid: uid }
      const { exitCode, stdout, stderr } = await runCli(args, { cwd: inFolder('clone'), env, ...who })
      assert.deepEqual([exitCode, stdout], [64, ''], stderr)
      const [, asked = ''] = /so it may only narrow; it asks for (.*)\.$/m.exec(stderr) ?? []
      const keys = [...asked.matchAll(/`(\w+)/g)].map(([, key]) => key)
      assert.deepEqual(new Set(keys), new Set(Object.keys(found).filter((key) => key !== 'ceilings')))
    }
    assert.equal(wasExecuted(), false)
  })

test('with --json the refusal is the document', async () => {
  plant(inFolder('clone'))
  const { stdout, stderr } = await runCli(['doctor', '--json'], { cwd: inFolder('clone') })
  assert.match(JSON.parse(stdout).error.message, /may only narrow/)
  assert.equal(stderr, '')
})

test('a configuration in a folder above that everybody can write', async () => {
  mkdirSync(inFolder('open'))
  chmodSync(inFolder('open'), 0o777)
  plant(inFolder('open'))
  mkdirSync(inFolder('open', 'mine'))
  await expectIgnored(inFolder('open', 'mine'), /ignored \S+: \S+ can be written by everybody/)
})

if (isRoot) {
  test('a configuration of another user in a folder above, such as /tmp', async () => {
    mkdirSync(inFolder('sticky'))
    chmodSync(inFolder('sticky'), 0o1777)
    plant(inFolder('sticky'))
    for (const name of [fileName, 'tool']) chownSync(inFolder('sticky', name), stranger, stranger)
    mkdirSync(inFolder('sticky', 'mine'))
    await expectIgnored(inFolder('sticky', 'mine'), /ignored \S+: \S+ belongs to another user \(uid 12345\)/)
  })

  test('a configuration of another user, who cannot be trusted by name either', async () => {
    plant(inFolder('theirs'))
    chownSync(inFolder('theirs', fileName), stranger, stranger)
    const { exitCode, stderr } = await runCli(['doctor', '--config', inFolder('theirs', fileName)])
    assert.equal(exitCode, 64)
    assert.match(stderr, /cannot be trusted: \S+ belongs to another user/)
    assert.equal(wasExecuted(), false)
  })
}

test('a link to a configuration that others can write', async () => {
  plant(inFolder('open'))
  chmodSync(inFolder('open'), 0o777)
  mkdirSync(inFolder('mine'))
  symlinkSync(inFolder('open', fileName), inFolder('mine', fileName))
  await expectIgnored(inFolder('mine'), /ignored \S+: \S+open can be written by everybody/)
})

const brought = `printf '{"toolchains":{"python":"/usr/bin/make"}}' | tee lazaret.config.json Lazaret.CONFIG.json > /dev/null
mkdir -p sub/lazaret.config.json .config/lazaret; cp lazaret.config.json .config/lazaret; touch sub/lazaret.config.json/x
printf '$(shell touch %s)\\nall:\\n' '$TRACE' > Makefile; cp lazaret.config.json own.json`

for (const [start, ...rest] of [
  ['exec', '--'],
  ['run', '-l', 'shell', '-e'],
]) {
  test(`${start}: a configuration that --collect brings out of a cell`, async () => {
    writeFileSync(inFolder('own.json'), '{}', { mode: 0o644 })
    const flags = ['--collect', '**', '--output-dir', '.', '--config', 'own.json']
    const script = brought.replace('$TRACE', inFolder('executed'))
    const { exitCode, stderr } = await runCli([start ?? '', ...flags, ...rest, script], { cwd: folder.path })
    assert.equal(exitCode, 73, stderr)
    assert.deepEqual(
      new Set(readdirSync(folder.path, { recursive: true, encoding: 'utf8' })),
      new Set(['Makefile', 'own.json']),
    )
    assert.equal(readFileSync(inFolder('own.json'), 'utf8'), '{}')
    assert.match(stderr, /could not write \.\/lazaret\.config\.json: a file of that name is a configuration/)
    assert.match(stderr, /could not write \.\/own\.json: lazaret itself uses the files there/)
    await runCli(runs, { cwd: folder.path })
    assert.equal(wasExecuted(), false)
  })
}

test('what --collect writes into the environment of a configured interpreter', async () => {
  mkdirSync(inFolder('environment', 'bin'), { recursive: true })
  for (const name of ['pyvenv.cfg', 'bin/python3']) writeFileSync(inFolder('environment', name), 'own')
  writeFileSync(inFolder('own.json'), '{"toolchains":{"python":"environment/bin/python3"}}', { mode: 0o644 })
  const script = `mkdir -p environment/bin environment/lib/python3.11
for name in pyvenv.cfg bin/python3 bin/pybuilddir.txt lib/python3.11/os.py; do echo planted > environment/$name; done`
  const flags = ['--config', 'own.json', '--collect', '**', '--output-dir', '.']
  const { exitCode, stderr } = await runCli(['exec', ...flags, '--', script], { cwd: folder.path })
  assert.equal(exitCode, 73, stderr)
  const kept = readdirSync(inFolder('environment'), { recursive: true, withFileTypes: true })
  const files = kept.filter((entry) => entry.isFile()).map(({ name }) => name)
  assert.deepEqual(files.toSorted(), ['python3', 'pyvenv.cfg'])
  assert.equal(readFileSync(inFolder('environment', 'pyvenv.cfg'), 'utf8'), 'own')
})

test('what --collect writes over the program itself and into folders of packages', async () => {
  const program = copyProgram(inFolder('program'))
  const paths = ['dist/adapters/cli/main.js', 'dist/new.js', 'package.json', 'native/bin/new']
  const packages = ['node_modules/zod/index.js', 'a/Node_Modules/x/y.js', 'node_modules']
  const main = readFileSync(program, 'utf8')
  for (const path of [...paths, ...packages]) {
    const script = `mkdir -p "$(dirname '${path}')"; echo planted > '${path}'`
    const flags = ['--collect', '**', '--output-dir', inFolder('program')]
    const args = [program, 'run', '-l', 'shell', ...flags, '-e', script]
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: '/', encoding: 'utf8' })
    assert.equal(status, 73, `${path}: ${stderr}`)
    assert.match(
      stderr,
      packages.includes(path) ? /loaded from folders called node_modules/ : /lazaret itself/,
    )
  }
  assert.equal(readFileSync(program, 'utf8'), main)
  for (const path of ['dist/new.js', 'native/bin/new', 'a']) assert.ok(!existsSync(inFolder('program', path)))
})

const title = 'a guest with a workspace of the host writes one for the owner’s next command'

async function writeFromInside(): Promise<void> {
  const workspace = inFolder('workspace')
  mkdirSync(workspace)
  chmodSync(folder.path, 0o777)
  const owner = isRoot ? { uid: 4242, gid: 4243 } : {}
  if (isRoot) chownSync(workspace, 4242, 4243)
  {
    await using lazaret = createLazaret({ onEvent: () => undefined, access: { workspaces: [workspace] } })
    await using sandbox = await lazaret.sandbox({ workspace })
    const script = `printf '{"toolchains":{"python":"./tool"}}' > ${fileName}
printf '#!/bin/sh\\ntouch %s\\n' '${inFolder('executed')}' > tool; chmod 755 tool`
    assert.equal((await sandbox.exec(script)).exitCode, 0)
  }
  assert.ok(existsSync(join(workspace, fileName)))
  const doctor = () =>
    new Promise<string>((resolve) => {
      const options = { cwd: workspace, ...owner, env: { PATH: process.env['PATH'] ?? '' } }
      execFile(process.execPath, [mainPath, 'doctor'], options, (_, stdout, stderr) =>
        resolve(stdout + stderr),
      )
    })
  // Others can write to the parent folder, so the owner of the file proves nothing.
  assert.match(await doctor(), /found in this folder or above, ignored/)
  chmodSync(folder.path, 0o755)
  assert.match(await doctor(), isRoot ? /ignored|may only narrow/ : /asks for `toolchains`/)
  if (isRoot) await expectIgnored(workspace, /belongs to another user \(uid 4242\)/)
  assert.equal(wasExecuted(), false)
}

// Without namespaces no sandbox has a folder of the host.
if ((await whyNoSandboxes()) === false) test(title, writeFromInside)

test('one that only narrows options is used, and that is reported beside the result', async () => {
  plant(inFolder('clone'), { ceilings: { wallMs: 400 }, minimumProtection: 'standard' })
  const args = ['run', '-l', 'shell', '-e', 'sleep 60']
  const { exitCode, stderr } = await runCli(args, { cwd: inFolder('clone') })
  assert.equal(exitCode, 124)
  assert.ok(
    stderr.startsWith(
      `lazaret: narrowed by ${inFolder('clone', fileName)}, found in this folder or above.\n`,
    ),
  )
  assert.match(stderr, /timed out after 400 ms \(wall\)\. That is the operator's ceiling/)
  const json = await runCli(['run', '--json', ...args.slice(1)], { cwd: inFolder('clone') })
  assert.equal(JSON.parse(json.stdout).receipt.limits.wallMs.value, 400)
  assert.match(json.stderr, /^lazaret: narrowed by \S+, found in this folder or above\.\n$/)
})
