/** A token file that cannot be read admits nobody, ends nothing, and is read again as soon as possible. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { ApiTokens, formatTokenFile, type TokenRecord } from '../../../src/adapters/http/api-tokens.ts'
import { hashOf } from '../../../src/adapters/http/bearer-tokens.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { adaToken, bobToken, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()

const root = mkdtempSync(join(tmpdir(), 'lazaret-token-file-'))
after(() => rmSync(root, { recursive: true, force: true }))

const recordOf = (name: string, token: string): TokenRecord => ({
  name,
  sha256: hashOf(token).toString('hex'),
  scopes: ['sandbox'],
})
const [ada, bob] = [recordOf('ada', adaToken), recordOf('bob', bobToken)]
const clock = { ...systemClock, every: () => () => undefined }

test('a broken path to the file does not end the server, and is reported once', () => {
  const folder = join(root, 'config')
  mkdirSync(folder)
  const path = join(folder, 'tokens.json')
  writeFileSync(path, formatTokenFile([ada]), { mode: 0o600 })
  const warnings: string[] = []
  using tokens = new ApiTokens({ path }, { clock, warn: (message) => void warnings.push(message) })
  const isAdmitted = (): boolean => tokens.find(`Bearer ${adaToken}`) !== undefined
  const look = (): void => {
    tokens.look()
    tokens.look()
  }
  assert.ok(isAdmitted())
  renameSync(folder, `${folder}.away`)
  look()
  symlinkSync(folder, folder)
  look()
  rmSync(folder)
  writeFileSync(folder, '')
  look()
  assert.equal(isAdmitted(), false)
  assert.deepEqual(
    warnings.map((message) => /ENOENT|ELOOP|ENOTDIR/.exec(message)?.[0]),
    ['ENOENT', 'ELOOP', 'ENOTDIR'],
  )
  // The unchanged file becomes readable again.
  rmSync(folder)
  renameSync(`${folder}.away`, folder)
  look()
  assert.ok(isAdmitted())
  assert.equal(warnings.length, 3)
})

test('a token that is revoked while its request is on its way gets no sandbox', { skip }, async () => {
  const path = join(root, 'tokens.json')
  const write = (records: readonly TokenRecord[]): void =>
    writeFileSync(path, formatTokenFile(records), { mode: 0o600 })
  write([ada, bob])
  const source = new ApiTokens({ path }, { clock, warn: () => undefined })
  await using here = await serveHere({ source })
  const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
  socket.write(
    `POST /v1/sandboxes HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n` +
      'expect: 100-continue\r\nconnection: close\r\ncontent-length: 2\r\n\r\n',
  )
  const [leave] = (await once(socket, 'data')) as [Buffer]
  assert.match(String(leave), /^HTTP\/1\.1 100 /)
  // A second read creates new objects for the same tokens.
  write([{ ...bob, running: 2 }, ada])
  source.look()
  write([bob])
  source.look()
  socket.write('{}')
  assert.match(await text(socket), /^HTTP\/1\.1 401 /)
  assert.deepEqual(here.engine.lazaret.listSandboxes(), [])
})
