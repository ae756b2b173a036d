/** `--collect` and `--output-dir`, from the command line to the files. */
import assert from 'node:assert/strict'
import { readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { namePictures } from '../../../../src/adapters/cli/output/write-outputs.ts'
import type { RunResult } from '../../../../src/core/result.ts'
import { runCli } from '../spawn-cli.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const script = `mkdir -p out/deep; printf '\\0\\1\\377' > out/deep/raw.bin; printf '{}' > report.json; echo done`

for (const start of [
  ['exec', '--'],
  ['run', '-l', 'shell', '-e'],
]) {
  const [command = '', ...before] = start

  test(`${command}: collected files are written below --output-dir and named on standard error`, async () => {
    await using folder = await createTemporaryFolder()
    const flags = ['--collect', 'out', '--collect', '*.json', '--output-dir', 'got']
    const args = [command, ...flags, ...before, script]
    const { exitCode, stdout, stderr } = await runCli(args, { cwd: folder.path })
    assert.deepEqual([exitCode, stdout], [0, 'done\n'])
    const wrote = 'lazaret: wrote got/out/deep/raw.bin\nlazaret: wrote got/report.json\n'
    assert.equal(stderr, wrote)
    assert.deepEqual(await readFile(join(folder.path, 'got/out/deep/raw.bin')), Buffer.from([0, 1, 255]))
    assert.equal(await readFile(join(folder.path, 'got/report.json'), 'utf8'), '{}')
  })

  test(`${command}: with --json the document contains the files, too, byte for byte`, async () => {
    const { stdout, stderr } = await runCli([command, '--json', '--collect', 'out', ...before, script])
    assert.equal(stderr, '')
    assert.deepEqual(JSON.parse(stdout).files, {
      'out/deep/raw.bin': { mime: 'application/octet-stream', base64: 'AAH/' },
    })
  })

  test(`${command}: a pattern that leads out of the workspace is refused and named`, async () => {
    const { exitCode, stdout } = await runCli([command, '--json', '--collect', '../x', ...before, ':'])
    assert.equal(exitCode, 64)
    assert.match(JSON.parse(stdout).error.message, /collect.*must be a path below \/workspace/)
  })
}

test('only regular files of a command are returned, and the others are reported', async () => {
  const collect = async (code: string) =>
    JSON.parse((await runCli(['exec', '--json', '--collect', '**', '--', code])).stdout)
  const mixed = await collect('echo x > a; ln -s a b; ln -s /etc c; mkfifo d; : > e; echo x > .f')
  assert.deepEqual([Object.keys(mixed.files), mixed.truncated], [['a', 'e'], []])
  assert.deepEqual(mixed.missingFiles, [{ reason: 'kind', count: 3, paths: ['b', 'c', 'd'] }])
  const closed = await collect('mkdir -m 0 closed; echo x > a; echo x > b; chmod 0 b')
  assert.deepEqual([Object.keys(closed.files), closed.folders], [['a'], []])
  assert.deepEqual(closed.truncated, ['files'])
  assert.deepEqual(closed.missingFiles, [{ reason: 'permission', count: 2, paths: ['closed', 'b'] }])
})

test('--collect without a folder for the files is refused before anything runs', async () => {
  const { exitCode, stdout, stderr } = await runCli(['exec', '--collect', 'out', '--', 'echo ran'])
  assert.deepEqual([exitCode, stdout], [64, ''])
  assert.match(stderr, /--collect .*\n.*--output-dir <dir>.*--json/)
})

test('displayed pictures are written in order, with numbers as names', async () => {
  await using folder = await createTemporaryFolder()
  const code = `
class Picture:
    def __init__(self, **formats): self.formats = formats
    def _repr_mimebundle_(self, **_): return {name.replace('_', '/'): text for name, text in self.formats.items()}
display(Picture(image_png='${onePixel}'))
display(Picture(**{'image_svg+xml': '<svg/>', 'text_plain': 'a drawing'}))`
  const args = ['run', '-l', 'python', '--output-dir', 'got', '-e', code]
  const { stdout, stderr, exitCode } = await runCli(args, { cwd: folder.path })
  assert.equal(exitCode, 0, stderr)
  assert.equal(stderr, 'lazaret: wrote got/display-1.png\nlazaret: wrote got/display-2.svg\n')
  assert.match(stdout, /a drawing/)
  assert.deepEqual(await readFile(join(folder.path, 'got/display-1.png')), Buffer.from(onePixel, 'base64'))
  assert.equal(await readFile(join(folder.path, 'got/display-2.svg'), 'utf8'), '<svg/>')
})

test('a picture never takes the name of a collected file', () => {
  const result = {
    files: { 'display-1.png': Buffer.alloc(0) },
    displays: [{ 'image/png': 'AA==' }, { 'text/html': '<b>', 'image/jpeg': 'AA==', __proto__: 'x' }],
  } as unknown as RunResult
  assert.deepEqual(
    namePictures(result).map(([name]) => name),
    ['display-2.png', 'display-3.jpg'],
  )
})

test('file names are printed as one harmless line each, up to a readable number', async () => {
  await using folder = await createTemporaryFolder()
  const code = String.raw`mkdir d; printf x > $'d/\e]0;t\a\nwrote'; for i in $(seq 100); do : > "f$i"; done`
  const args = ['exec', '--collect', '.', '--output-dir', 'got', '--', code]
  const { stderr, exitCode } = await runCli(args, { cwd: folder.path })
  assert.equal(exitCode, 0, stderr)
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(stderr, /[\x00-\x09\x0b-\x1f\x7f]/)
  const lines = stderr.trimEnd().split('\n')
  assert.deepEqual([lines.length, lines.at(-1)], [51, 'lazaret: and 51 more.'])
  assert.equal((await readdir(join(folder.path, 'got'))).length, 101)
})

for (const [command, before] of [
  ['run', ['-l', 'shell', '-e']],
  ['exec', ['--']],
] as const)
  test(`${command}: executable files and empty folders are so in the output folder`, async () => {
    await using folder = await createTemporaryFolder()
    const code = 'mkdir -p d/empty; : > d/run.sh; chmod +x d/run.sh; : > plain'
    const args = [command, '--collect', '**', '--output-dir', 'got', ...before, code]
    const { stderr, exitCode } = await runCli(args, { cwd: folder.path })
    assert.equal(exitCode, 0, stderr)
    const modeOf = async (path: string) => (await stat(join(folder.path, 'got', path))).mode & 0o777
    assert.deepEqual([await modeOf('d/run.sh'), await modeOf('plain')], [0o755, 0o644])
    assert.deepEqual(await readdir(join(folder.path, 'got/d/empty')), [])
    assert.match(stderr, /^lazaret: wrote got\/d\/empty\/$/m)
  })

test('a file that cannot be written is named with the reason, and the exit code 0 becomes 73', async () => {
  await using folder = await createTemporaryFolder()
  await symlink('/nowhere', join(folder.path, 'report.json'))
  const run = (code: string) =>
    runCli(['exec', '--collect', '*.json', '--output-dir', '.', '--', code], { cwd: folder.path })
  const { exitCode, stderr } = await run(script)
  assert.equal(exitCode, 73)
  assert.match(stderr, /^lazaret: could not write \.\/report\.json: something that is not a regular file/m)
  assert.equal((await run(`${script}; exit 5`)).exitCode, 5)
})

test('files that were left out are reported', async () => {
  await using folder = await createTemporaryFolder()
  const code = 'head -c 20000000 /dev/zero > large; : > small'
  const args = ['exec', '--collect', '*', '--output-dir', 'got', '--', code]
  const { stderr } = await runCli(args, { cwd: folder.path })
  assert.match(stderr, /^lazaret: not collected: "large" does not fit into resultBytes\.$/m)
  assert.deepEqual(await readdir(join(folder.path, 'got')), ['small'])
})

test('patterns that match nothing are named, and do not change the exit code', async () => {
  await using folder = await createTemporaryFolder()
  const args = ['exec', '--collect', 'none', '--collect', 'o{1..3}', '--output-dir', 'got', '--', script]
  const { exitCode, stderr } = await runCli(args, { cwd: folder.path })
  assert.deepEqual([exitCode, stderr], [0, 'lazaret: nothing matched --collect none, o{1..3}.\n'])
})

test('truncated files are not reported as missing', async () => {
  await using folder = await createTemporaryFolder()
  await writeFile(join(folder.path, 'own.json'), '{"defaults":{"resultBytes":64}}', { mode: 0o644 })
  const args = [
    'exec',
    '--config',
    'own.json',
    '--collect',
    'big',
    '--output-dir',
    'got',
    '--',
    'head -c 65 /dev/zero > big',
  ]
  const { exitCode, stderr } = await runCli(args, { cwd: folder.path })
  assert.deepEqual([exitCode, stderr], [0, 'lazaret: not collected: "big" does not fit into resultBytes.\n'])
})
