/** Files into the workspace and back: what a run was asked to collect, whatever its outcome. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { RunRequest } from '../../src/index.ts'
import { runPatiently } from '../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const MiB = 1024 * 1024
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
const jsWrites = `const fs = await import('node:fs')
fs.mkdirSync('out/deep', { recursive: true })
fs.writeFileSync('out/deep/all.bin', Uint8Array.from({ length: 256 }, (_, index) => index))
fs.writeFileSync('out/empty', '')
fs.writeFileSync('other.txt', 'other')
fs.writeFileSync('.hidden', 'hidden')`

const writers = {
  shell: {
    ...shell,
    files: { 'all.bin': everyByte },
    code: 'mkdir -p out/deep; mv all.bin out/deep; : > out/empty; printf other > other.txt; printf hidden > .hidden',
  },
  python: {
    ...python,
    code: `import os
os.makedirs('out/deep')
open('out/deep/all.bin', 'wb').write(bytes(range(256)))
open('out/empty', 'w').close()
open('other.txt', 'w').write('other')
open('.hidden', 'w').write('hidden')`,
  },
  bun: { ...bun, code: jsWrites },
  node: { ...node, code: jsWrites },
} satisfies Readonly<Record<string, RunRequest>>

function texts(files: Readonly<Record<string, Uint8Array>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [path, Buffer.from(content).toString()]),
  )
}

for (const [name, request] of Object.entries(writers)) {
  test(`${name}: exactly the matching files are returned, byte for byte and in order`, async () => {
    const { files, truncated, outcome } = await guests.run({ ...request, collect: ['out', '*.txt'] })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.deepEqual(Object.keys(files), ['other.txt', 'out/deep/all.bin', 'out/empty'])
    assert.deepEqual(Buffer.from(files['out/deep/all.bin'] ?? []), everyByte)
    assert.equal(files['out/empty']?.length, 0)
    assert.deepEqual(truncated, [])
  })
}

test('without a request, or without a match, no file is returned or counted as left out', async () => {
  for (const collect of [undefined, [], ['nothing/*', 'nothing', 'other.txt/below']]) {
    const { files, truncated } = await guests.run({
      ...writers.shell,
      ...(collect === undefined ? {} : { collect }),
    })
    assert.deepEqual(files, {})
    assert.deepEqual(truncated, [])
  }
})

describe('files are returned however the run ended', () => {
  const write = 'printf kept > kept.txt; '
  const ends: Readonly<Record<string, RunRequest>> = {
    completed: { ...shell, code: `${write} exit 3` },
    failed: { ...python, code: "open('kept.txt', 'w').write('kept')\n1 / 0" },
    'timed-out': { ...shell, code: `${write} sleep 60` },
    'limit-exceeded': { ...shell, code: `${write} yes`, limits: { outputBytes: 1000 } },
    killed: { ...shell, code: `${write} kill -SEGV $$` },
  }
  for (const [kind, request] of Object.entries(ends)) {
    test(kind, async () => {
      const { result } = await runPatiently(
        guests.run,
        { ...request, collect: ['kept.txt'] },
        // A run that was stopped before it ended its own way needs more time.
        ({ result: { files, outcome } }) => 'kept.txt' in files && outcome.kind === kind,
      )
      const { outcome, files, truncated } = result
      assert.equal(outcome.kind, kind)
      assert.deepEqual(texts(files), { 'kept.txt': 'kept' })
      assert.ok(!truncated.includes('files'), truncated.join())
    })
  }
})

test('a cancelled run returns no files, and reports that', async () => {
  const controller = new AbortController()
  const { outcome, files, truncated, missingFiles } = await guests.run({
    ...shell,
    code: 'echo kept > kept.txt; echo ready; sleep 60',
    collect: ['kept.txt'],
    signal: controller.signal,
    onOutput: () => controller.abort(),
  })
  assert.deepEqual(outcome, { kind: 'cancelled' })
  assert.deepEqual(files, {})
  assert.deepEqual(truncated, ['files'])
  assert.deepEqual(missingFiles, [{ reason: 'ended', count: 0, paths: [] }])
})

test('each reason why files are missing is given, with the number of files and some of their names', async () => {
  const { files, truncated, missingFiles } = await guests.run({
    ...shell,
    code: `echo 1 > kept; echo 1 > closed; chmod 0 closed; mkdir -m 0 locked; mkdir listed; echo 1 > listed/a; chmod 444 listed
printf 1 > $'b\\xff'; mkfifo pipe; ln -s kept link; for n in $(seq 12); do ln -s kept "n$n"; done; head -c 2000 /dev/zero > large
mkdir -p "deep/$(printf 'd/%.0s' $(seq 70))"`,
    collect: ['**'],
    limits: { resultBytes: 1000 },
  })
  assert.deepEqual([Object.keys(files), truncated], [['kept'], ['files']])
  const found = Object.fromEntries(missingFiles.map(({ reason, count, paths }) => [reason, { count, paths }]))
  assert.deepEqual([...(found['permission']?.paths ?? [])].toSorted(), ['closed', 'listed/a', 'locked'])
  assert.deepEqual(found['name'], { count: 1, paths: ['b\u{FFFD}'] })
  assert.deepEqual([found['kind']?.count, found['kind']?.paths.length], [14, 10])
  assert.deepEqual(found['size'], { count: 1, paths: ['large'] })
  assert.match(found['path']?.paths.join() ?? '', /^deep\/(d\/)+d$/)
  assert.equal(Object.keys(found).length, 5)
})

test('links and pipes are not collected, which does not make the files incomplete', async () => {
  const { files, truncated, missingFiles, toText } = await collectMixed(['pipe', 'link/a'])
  assert.deepEqual([files, truncated], [{}, []])
  assert.deepEqual(missingFiles, [{ reason: 'kind', count: 2, paths: ['pipe', 'link/a'] }])
  assert.match(toText, /"pipe" and "link\/a" are not regular files\./)
  const unasked = await collectMixed(['other'])
  assert.deepEqual(unasked.missingFiles, [])
})

async function collectMixed(collect: readonly string[]) {
  const result = await guests.run({ ...shell, code: 'mkfifo pipe; mkdir d; ln -s d link; : > d/a', collect })
  return { ...result, toText: result.toText() }
}

test('executable files and empty folders are named', async () => {
  const { files, executables, folders, missingFiles } = await guests.run({
    ...shell,
    code: 'mkdir -p a/empty b .c; : > a/run.sh; : > a/plain; chmod 755 a/run.sh; : > b/x; rm b/x',
    collect: ['a', 'b', '**'],
  })
  assert.deepEqual(Object.keys(files), ['a/plain', 'a/run.sh'])
  assert.deepEqual([executables, folders, missingFiles], [['a/run.sh'], ['a/empty', 'b'], []])
})

test('a file that does not fit into resultBytes is left out completely, and the others are returned', async () => {
  const { files, truncated, missingFiles } = await guests.run({
    ...shell,
    code: 'head -c 600 /dev/zero > a; head -c 600 /dev/zero > b; head -c 400 /dev/zero > c; : > d',
    collect: ['?'],
    limits: { resultBytes: 1000 },
  })
  assert.deepEqual(
    Object.entries(files).map(([path, content]) => [path, content.length]),
    [
      ['a', 600],
      ['c', 400],
      ['d', 0],
    ],
  )
  assert.deepEqual(truncated, ['files'])
  assert.deepEqual(missingFiles, [{ reason: 'size', count: 1, paths: ['b'] }])
})

test('of more than 10 000 files the first 10 000 are returned', async () => {
  const { files, truncated, missingFiles } = await guests.run({
    ...python,
    code: "for n in range(10_050): open(f'f{n:05}', 'w').close()",
    collect: ['f*'],
  })
  const paths = Object.keys(files)
  assert.deepEqual([paths.length, paths[0], paths.at(-1)], [10_000, 'f00000', 'f09999'])
  assert.deepEqual(truncated, ['files'])
  assert.deepEqual(
    missingFiles.map(({ reason, count, paths: [first] }) => [reason, count, first]),
    [['count', 50, 'f10000']],
  )
})

test('16 MiB of input files are returned unchanged', async () => {
  const large = Buffer.alloc(16 * MiB - 3, 'lazaret')
  const { files, truncated } = await guests.run({
    ...shell,
    code: 'cat small >> copy',
    files: { 'deep/large.bin': large, small: 'abc' },
    collect: ['deep', 'copy'],
  })
  assert.equal(Buffer.compare(Buffer.from(files['deep/large.bin'] ?? []), large), 0)
  assert.deepEqual(Buffer.from(files['copy'] ?? []).toString(), 'abc')
  assert.deepEqual(truncated, [])
})

test('10 000 input files in folders are returned unchanged', async () => {
  const placed = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`d${index % 100}/f${index}`, `content ${index}`]),
  )
  const { files, truncated } = await guests.run({ ...shell, code: ':', files: placed, collect: ['.'] })
  assert.deepEqual(texts(files), placed)
  assert.deepEqual(Object.keys(files), Object.keys(placed).toSorted())
  assert.deepEqual(truncated, [])
})

test('a pattern that leads out of the workspace is refused before anything runs', async () => {
  for (const pattern of ['../x', '/etc/passwd', 'a/../../b', '{a,/etc/*}', '', 'a'.repeat(2000)]) {
    await assert.rejects(guests.run({ ...shell, code: ':', collect: [pattern] }), {
      code: 'INVALID_REQUEST',
      message: /collect/,
    })
  }
  const many = Array.from({ length: 65 }, (_, index) => `f${index}`)
  await assert.rejects(guests.run({ ...shell, code: ':', collect: many }), { code: 'INVALID_REQUEST' })
})
