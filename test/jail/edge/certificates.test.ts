/**
 * The operator's certificates in a sandbox in the host's network: only the certificates of a file, and nothing else in
 * it.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { findCertificates } from '../../../src/jail/edge/certificates.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-certificates-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const certificate = '-----BEGIN CERTIFICATE-----\nTGF6YXJldA==\n-----END CERTIFICATE-----\n'
const key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n'
const both = file('both.pem', `a comment\n${key}${certificate}${key}`)

test('from a file with a key only the certificates are shown, once for all variables', () => {
  const { variables, files } = findCertificates({ SSL_CERT_FILE: both, PIP_CERT: both, HOME: both })
  const path = variables['SSL_CERT_FILE'] ?? ''
  assert.deepEqual(variables, { SSL_CERT_FILE: path, PIP_CERT: path })
  assert.deepEqual(files, { [path]: certificate })
})

test('a variable is not passed on if its file is missing, relative, a folder, too large or has no certificate', () => {
  for (const path of [
    join(folder, 'absent'),
    'both.pem',
    folder,
    '/dev/zero',
    file('large.pem', certificate.repeat(20_000)),
    file('key.pem', key),
  ])
    assert.deepEqual(findCertificates({ CURL_CA_BUNDLE: path }), { variables: {}, files: {} }, path)
})

const { lazaret, level, landlockAbi } = await useLazaret({ access: { networks: ['none', 'host'] } })
const skip = level === 'restricted' && 'without mounts of its own a sandbox has no such files'

/** Commands with credentials are refused on the host's network if Landlock cannot scope signals and sockets. */
const environments = [{}, ...(landlockAbi < 6 ? [] : [{ TOKEN: 'a' }])]

test('commands have them on the host’s network, and not without a network', { skip }, async () => {
  const before = process.env['CURL_CA_BUNDLE']
  process.env['CURL_CA_BUNDLE'] = both
  try {
    const shown = { network: 'host', protectedPorts: [] } as const
    for (const [options, expected] of [
      [shown, certificate],
      [{}, ''],
    ] as const) {
      await using sandbox = await lazaret.sandbox(options)
      const command = '[ -z "$CURL_CA_BUNDLE" ] || cat "$CURL_CA_BUNDLE"'
      for (const env of environments) assert.equal((await sandbox.exec(command, { env })).stdout, expected)
    }
  } finally {
    if (before === undefined) delete process.env['CURL_CA_BUNDLE']
    else process.env['CURL_CA_BUNDLE'] = before
  }
})
