/** `npm install` by root under a umask such as 077 makes files that guests with ids of their own may not read. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { WithoutLayers } from '../support/hosts/without-layer.ts'
import { copyProgram } from '../support/sources/copy-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-private-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const skip = process.geteuid?.() === 0 ? false : 'only root gives guests ids of their own'

test('harnesses that guests may not read are a refusal with the fix, not a failed program', { skip }, () => {
  chmodSync(folder, 0o755)
  const main = copyProgram(folder)
  const run = () =>
    spawnSync(process.execPath, [main, 'run', '--minimum', 'restricted', '-l', 'python', '-e', '6 * 7'], {
      encoding: 'utf8',
    })
  const doctor = () => spawnSync(process.execPath, [main, 'doctor'], { encoding: 'utf8' }).stdout
  assert.equal(run().stdout, '42\n')
  assert.match(doctor(), /ok +python/)
  for (const name of ['dist/runtimes/python/guest.py', 'dist/runtimes', 'dist']) {
    const path = join(folder, name)
    chmodSync(path, name.endsWith('.py') ? 0o600 : 0o700)
    const { status, stderr } = run()
    assert.equal(status, 69, stderr)
    assert.match(stderr, /Guests may not read .*chmod -R go\+rX/s)
    assert.match(doctor(), /missing +python[^]*chmod -R go\+rX/)
    chmodSync(path, 0o755)
  }
})

test('without namespaces, so is an installation in a folder that is closed to guests', { skip }, async () => {
  using without = new WithoutLayers()
  const closed = join(folder, 'closed')
  mkdirSync(closed)
  const main = copyProgram(closed)
  const run = (language: string, code: string) =>
    without.run(
      ['user-namespaces', 'sys-admin'],
      [process.execPath, main, 'run', '--minimum', 'restricted', '-l', language, '-e', code],
    )
  const programs = { python: '6 * 7', typescript: '6 * 7' }
  for (const [language, code] of Object.entries(programs)) {
    chmodSync(closed, 0o755)
    assert.equal((await run(language, code)).stdout, '42\n')
    chmodSync(closed, 0o700)
    const { exitCode, stderr } = await run(language, code)
    assert.equal(exitCode, 69, stderr)
    assert.match(stderr, /Guests cannot reach .*closed to other users.*such as \/opt/s)
  }
})
