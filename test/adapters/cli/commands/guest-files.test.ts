import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { collectFiles, parsePlacement } from '../../../../src/adapters/cli/options/guest-files.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const bound = { bytesMax: 1_000, signal: new AbortController().signal }

test('a file is placed under its own name, or under the given one', async () => {
  await using folder = await createTemporaryFolder()
  const path = join(folder.path, 'sales.csv')
  await writeFile(path, 'a,b')
  const { files } = await collectFiles(
    [path, `${path}:input/other.csv`, `${path}:/workspace/third.csv`],
    bound,
  )
  assert.deepEqual(Object.keys(files).sort(), ['input/other.csv', 'sales.csv', 'third.csv'])
  assert.equal(Buffer.from(files['input/other.csv'] ?? []).toString(), 'a,b')
})

test('a folder is copied under its own name or as the workspace; its links are reported and left out', async () => {
  await using folder = await createTemporaryFolder()
  const data = join(folder.path, 'data')
  await mkdir(join(data, 'deep', 'deeper'), { recursive: true })
  await writeFile(join(data, '.hidden'), '')
  await writeFile(join(data, 'deep', 'deeper', 'a b.txt'), 'x')
  await symlink('/etc/passwd', join(data, 'link'))
  const { files, skipped } = await collectFiles([data], bound)
  assert.deepEqual(Object.keys(files).sort(), ['data/.hidden', 'data/deep/deeper/a b.txt'])
  assert.deepEqual(skipped, [join(data, 'link')])
  const atRoot = await collectFiles([`${data}:.`], bound)
  assert.deepEqual(Object.keys(atRoot.files).sort(), ['.hidden', 'deep/deeper/a b.txt'])
})

test('the name of an existing file may contain a colon', async () => {
  await using folder = await createTemporaryFolder()
  const path = join(folder.path, 'a:b')
  await writeFile(path, '')
  assert.deepEqual(parsePlacement(path), { host: path, guest: 'a:b' })
})

test('the error for a missing file, or a guest path outside the workspace, names the option', async () => {
  await assert.rejects(collectFiles(['no/such.csv:x'], bound), {
    name: 'UsageError',
    message: '--file no/such.csv:x: cannot read no/such.csv: no such file or directory.',
  })
  for (const guest of ['../x', '/etc/passwd', 'a/../../x', '..', '/workspace/../etc', '/workspaces/x']) {
    await assert.rejects(collectFiles([`nothing:${guest}`], bound), /outside \/workspace/, guest)
  }
})

test('files that are together larger than the limit are refused', async () => {
  await using folder = await createTemporaryFolder()
  for (const name of ['a', 'b', 'c']) await writeFile(join(folder.path, name), 'x'.repeat(400))
  await assert.rejects(collectFiles([folder.path], bound), { code: 'INPUT_TOO_LARGE' })
})

test('an endless device is refused', async () => {
  await assert.rejects(collectFiles(['/dev/zero:zero'], bound), { code: 'INPUT_TOO_LARGE' })
})
