/**
 * A secret, the host that it belongs to, and guests that send raw bytes to that host. Call once, at the top of a test
 * file.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

import type { EdgeSecret, Sandbox } from '../../../src/index.ts'
import { createAuthority } from '../../../src/jail/edge/secrets/authority.ts'
import { createLazaret } from '../create-lazaret.ts'
import { LeakCheck } from '../machine/leaks.ts'
import { SecretApi } from './secret-api.ts'

/** Python; `KEY` is the placeholder's variable. */
const programFor = (port: number) => `
import os, socket, ssl, time
key = os.environ['KEY']
def dial():
    one = socket.create_connection(('localhost', ${port}), 20)
    return ssl.create_default_context().wrap_socket(one, server_hostname='localhost')
def say(words):
    try:
        one = dial()
        one.sendall(words.encode('latin1'))
        answer = b''
        while True:
            piece = one.recv(65536)
            if not piece: return answer.decode('latin1')
            answer += piece
    except OSError as error: return type(error).__name__
def status(answer): return answer.split(' ')[1] if answer.startswith('HTTP/') else answer or 'closed'
def text(answer): return answer.split('\\r\\n\\r\\n', 1)[1]
def ask(target='/', headers=(), body='', method='GET', ends=True):
    lines = [f'{method} {target} HTTP/1.1', 'Host: localhost:${port}', f'X-Key: {key}', *(['Connection: close'] if ends else []), *headers]
    return '\\r\\n'.join(lines) + '\\r\\n\\r\\n' + body
`

export async function useSecretApi(value: string) {
  const leaks = new LeakCheck()
  await leaks.takeBaseline()
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-secrets-'))
  const operator = createAuthority()
  writeFileSync(join(folder, 'operator.pem'), operator.certificate)
  const certificatesBefore = process.env['NODE_EXTRA_CA_CERTS']
  process.env['NODE_EXTRA_CA_CERTS'] = join(folder, 'operator.pem')
  const api = await SecretApi.open(operator)
  const lazaret = createLazaret({ access: { networks: ['none', 'local-policy'] } })
  const { level } = await lazaret.probe()
  after(async () => {
    await lazaret[Symbol.asyncDispose]()
    await api[Symbol.asyncDispose]()
    if (certificatesBefore === undefined) delete process.env['NODE_EXTRA_CA_CERTS']
    else process.env['NODE_EXTRA_CA_CERTS'] = certificatesBefore
    rmSync(folder, { recursive: true, force: true })
    await leaks.checkDisposed()
  })
  const host = `localhost:${api.port}`
  const open = (more: Partial<EdgeSecret> = {}): Promise<Sandbox> =>
    lazaret.sandbox({
      network: { allow: [host], connectionsMax: 200 },
      secrets: { KEY: { value, hosts: [host], ...more } },
    })
  const run = async (sandbox: Sandbox, code: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await sandbox.exec('python3 -', {
      stdin: programFor(api.port) + code,
    })
    assert.deepEqual([exitCode, stderr], [0, ''])
    return stdout.trimEnd()
  }
  const skip = level === 'restricted' && 'without namespaces a policy is refused'
  return { api, lazaret, host, open, run, skip }
}

/** The pids of the proxies that this process has started. */
export function findProxies(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const isProxy = readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('lazaret-secrets')
      return isProxy && readFileSync(`/proc/${pid}/stat`, 'latin1').includes(` ${process.pid} `)
    } catch {
      return false
    }
  })
}
