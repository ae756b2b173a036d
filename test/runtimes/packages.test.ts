/** Packages of the operator: guests of every runtime find them, and none can write to them. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import type { RunRequest } from '../../src/index.ts'
import { createLazaret } from '../support/create-lazaret.ts'

const root = mkdtempSync(join(tmpdir(), 'lazaret-packages-'))
chmodSync(root, 0o755)
const put = (path: string, text: string) => {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
}
put('one/first.py', 'word = "first"\n')
put('one/both.py', 'word = "one"\n')
put('two/both.py', 'word = "two"\n')
put('two/json.py', 'raise RuntimeError("the standard library comes first")\n')
put('node_modules/common/index.js', 'module.exports = { word: "common" }\n')
put('node_modules/modern/package.json', '{"name":"modern","type":"module","exports":"./modern.js"}')
put('node_modules/modern/modern.js', 'export const word = "modern"\n')
const packages = { python: [join(root, 'one'), join(root, 'two')], node: join(root, 'node_modules') }

const lazaret = createLazaret({ packages, access: { preload: true }, onEvent: () => undefined })
const { level } = await lazaret.probe()
const isRestricted = level === 'restricted'
after(async () => {
  await lazaret[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

const python = `
import json, subprocess, sys
import both, first
child = subprocess.run([sys.executable, '-c', 'import first; print(first.word)'], capture_output=True, text=True)
[first.word, both.word, child.stdout.strip()]`
const javascript = `
import { word } from 'modern'
import { createRequire } from 'node:module'
;[word, createRequire('/workspace/x.js')('common').word]`
const bare = `[require('common').word]`

const runs: Readonly<Record<string, readonly [RunRequest, unknown]>> = {
  python: [{ language: 'python', code: python }, ['first', 'one', 'first']],
  'python with variables of its own': [
    { language: 'python', code: python, env: { PYTHONHASHSEED: '1' } },
    ['first', 'one', 'first'],
  ],
  bun: [{ language: 'typescript', runtime: 'bun', code: javascript }, ['modern', 'common']],
  node: [{ language: 'javascript', runtime: 'node', code: javascript }, ['modern', 'common']],
  'node with require': [{ language: 'javascript', runtime: 'node', code: bare }, ['common']],
}
for (const [what, [request, expected]] of Object.entries(runs)) {
  const skip = isRestricted && request.runtime === 'node' && what === 'node'
  test(`a run of ${what} finds them, in a new or a parked worker`, { skip }, async () => {
    const cold = await lazaret.run(request)
    assert.deepEqual(cold.value, expected, JSON.stringify([cold.outcome, cold.stderr]))
    await lazaret.warmUp({ language: request.language, ...(request.runtime && { runtime: request.runtime }) })
    const warm = await lazaret.run(request)
    assert.deepEqual(warm.value, expected, JSON.stringify([warm.outcome, warm.stderr]))
    assert.equal(warm.receipt.start === 'cold', request.env !== undefined)
  })
}

test('their modules can be loaded ahead', async () => {
  const kind = { language: 'python', preload: ['first'] } as const
  await lazaret.warmUp(kind)
  const { value, receipt } = await lazaret.run({ ...kind, code: 'import sys\n"first" in sys.modules' })
  assert.deepEqual([value, receipt.start === 'cold'], [true, false])
})

test('commands of a sandbox find them, including those with credentials', async () => {
  await using sandbox = await lazaret.sandbox()
  const line = 'python3 -c "import first; print(first.word)"; node -p "require(\'common\').word"'
  for (const env of [undefined, ...(isRestricted ? [] : [{ TOKEN: 't0ken' }])]) {
    const { stdout, stderr } = await sandbox.exec(line, env && { env })
    assert.equal(stdout, 'first\ncommon\n', stderr)
  }
  const shell = await lazaret.run({ language: 'shell', code: 'python3 -c "import both; print(both.word)"' })
  assert.equal(shell.stdout, 'one\n', shell.stderr)
})

test('none can be written to', async () => {
  const code =
    'import first\ntry:\n  open(first.__file__, "w")\nexcept OSError as error:\n  done = error.errno\ndone in (13, 30)'
  assert.equal((await lazaret.run({ language: 'python', code })).value, true)
})

test('an invalid folder is refused by its name', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ packages: { python: [join(root, 'nothing')] } }, /packages\.python\[0\].* is not a folder/],
    [{ packages: { node: join(root, 'one/first.py') } }, /packages\.node.* is not a folder/],
    [{ packages: { python: root } }, /packages\.python/],
    [{ packages: { ruby: root } }, /packages.*ruby/],
    [{ packages, readable: [{ host: root, guest: '/node_modules' }] }, /packages\.node.*\/node_modules/],
  ]
  for (const [options, message] of wrong)
    assert.throws(() => createLazaret(options), { code: 'INVALID_REQUEST', message })
})
