/**
 * Planting code in V8's compile cache of the command: in a folder that others can write to, that belongs to another user, or
 * that a link leads to. V8 runs the code that it finds there.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'

const checkout = join(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'lazaret-cache-'))
const copy = join(folder, 'package')
const cache = join(copy, '.compile-cache')
cpSync(join(checkout, 'dist'), join(copy, 'dist'), { recursive: true })
cpSync(join(checkout, 'package.json'), join(copy, 'package.json'))
beforeEach(() => rmSync(cache, { recursive: true, force: true }))
after(() => rmSync(folder, { recursive: true, force: true }))

function runCommand(): void {
  const main = join(copy, 'dist/adapters/cli/main.js')
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const printed = execFileSync(
    '/bin/sh',
    ['-c', 'umask 000; exec "$0" "$1" --version', process.execPath, main],
    { env },
  )
  assert.match(printed.toString(), /^\d+\.\d+/)
}

test('no other user can enter the folder, whatever the umask is', () => {
  runCommand()
  assert.equal(statSync(cache).mode & 0o777, 0o700)
  assert.ok(readdirSync(cache).length > 0)
  runCommand()
})

test('a folder that others can read or write is not used', () => {
  for (const mode of [0o777, 0o770, 0o755]) {
    rmSync(cache, { recursive: true, force: true })
    mkdirSync(cache)
    chmodSync(cache, mode)
    runCommand()
    assert.deepEqual(readdirSync(cache), [])
  }
})

test('a link to a folder is not followed', () => {
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere, { mode: 0o700 })
  symlinkSync(elsewhere, cache)
  runCommand()
  assert.deepEqual(readdirSync(elsewhere), [])
  rmSync(cache)
})

const skip = process.getuid?.() !== 0 && 'only root can give a folder away'
test('the folder of another user is not used', { skip }, () => {
  mkdirSync(cache, { mode: 0o700 })
  chownSync(cache, 65_534, 65_534)
  runCommand()
  assert.deepEqual(readdirSync(cache), [])
})
