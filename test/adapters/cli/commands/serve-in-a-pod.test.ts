/**
 * `lazaret serve` as Kubernetes starts it: as a user without a name, with a Secret and a ConfigMap as volumes, probed by address,
 * with its logs on standard output. The volumes have the links, owners and modes that kubelet gives them; arguments,
 * configuration and probes are those of profiles/kubernetes/lazaret.yaml.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text as readAll } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { formatTokenFile } from '../../../../src/adapters/http/api-tokens.ts'
import { hashOf } from '../../../../src/adapters/http/bearer-tokens.ts'
import { send } from '../../http/serve-here.ts'
import { checkoutRoot } from '../../../support/sources/checkout.ts'
import { runCli, spawnCli } from '../spawn-cli.ts'

const skip = process.getuid?.() === 0 ? false : 'only root can mount a volume for another user'
const lookEveryMs = 50
const [uid, fsGroup] = [10_001, 20_002]
const [oldToken, newToken] = ['old-0123456789abcdef', 'new-0123456789abcdef']

const root = mkdtempSync(join(tmpdir(), 'lazaret-pod-'))
chmodSync(root, 0o755)
const mounted: string[] = []
after(() => {
  for (const volume of mounted) execFileSync('umount', [volume])
  rmSync(root, { recursive: true })
})

const manifest = readFileSync(join(checkoutRoot, 'profiles/kubernetes/lazaret.yaml'), 'utf8')
const allOf = (pattern: RegExp): string[] => [...manifest.matchAll(pattern)].map(([, found = '']) => found)
const [configuration = ''] = allOf(/lazaret\.config\.json: \|\n((?: {4}.*\n)+)/g)
const args = allOf(/^ {12}- (--.*)$/gm)
const probes = allOf(/httpGet: \{ path: (\S+), port: http \}/g)

const tokensOf = (token: string): string =>
  formatTokenFile([
    { name: 'app', sha256: hashOf(token).toString('hex'), scopes: ['run', 'sandbox', 'admin'] },
  ])

/** Writes a version of the files, and lets `..data` lead to it in one step. */
function fill(volume: string, version: string, files: Readonly<Record<string, string>>, mode: number): void {
  const folder = join(volume, `..${version}`)
  mkdirSync(folder)
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name)
    writeFileSync(file, content)
    chownSync(file, 0, fsGroup)
    chmodSync(file, mode)
  }
  symlinkSync(`..${version}`, join(volume, '..data_tmp'))
  renameSync(join(volume, '..data_tmp'), join(volume, '..data'))
}

/** A volume as the pod sees it, and as kubelet writes it. */
function makeVolume(name: string, files: Readonly<Record<string, string>>, mode: number) {
  const [own, shown] = [join(root, `kubelet-${name}`), join(root, name)]
  for (const folder of [own, shown]) mkdirSync(folder)
  chmodSync(own, 0o777)
  fill(own, '2026_01', files, mode)
  for (const file of Object.keys(files)) symlinkSync(`..data/${file}`, join(own, file))
  execFileSync('mount', ['--bind', own, shown])
  mounted.push(shown)
  execFileSync('mount', ['-o', 'remount,bind,ro', shown])
  return { own, shown }
}

/** A user without a home. */
const surroundings = { cwd: '/', uid, gid: fsGroup, env: { HOME: '/', XDG_CONFIG_HOME: '/nonexistent' } }

async function serveInPod(more: readonly string[]) {
  const all = ['serve', '--port', '0', '--json', '--minimum', 'restricted', ...more]
  const child = spawnCli(all, surroundings)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const stderr = readAll(child.stderr)
  const lines: string[] = []
  const reader = createInterface(child.stdout)
  reader.on('line', (line) => lines.push(line))
  await Promise.race([once(reader, 'line'), ended])
  if (lines[0] === undefined) throw new Error(await stderr)
  const { url } = JSON.parse(lines[0]) as { url: string }
  return {
    ...{ url, child, ended, lines, stderr },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

test('a pod: volumes, probes, a new version of the Secret, logs, and its end', { skip }, async () => {
  const secret = makeVolume('secret', { 'tokens.json': tokensOf(oldToken) }, 0o440)
  const settings = makeVolume('config', { 'lazaret.config.json': configuration }, 0o644)
  const mounts = { '/etc/lazaret-tokens/': `${secret.shown}/`, '/etc/lazaret/': `${settings.shown}/` }
  await using pod = await serveInPod(
    args.map((arg) => Object.entries(mounts).reduce((text, [path, own]) => text.replace(path, own), arg)),
  )
  // kubelet names the pod's address, and has no token.
  const probe = { token: null, headers: { host: '10.1.2.3:7341' } }
  const statusOf = async (path: string) => (await send(pod.url, path, probe)).status
  assert.deepEqual(probes, ['/healthz', '/healthz', '/readyz'])
  for (const path of probes) assert.equal(await statusOf(path), 200, path)
  assert.equal(await statusOf('/metrics'), 403)
  const body = { language: 'shell', code: 'echo from a pod' }
  const answer = await send(pod.url, '/v1/run?secret=no', { body, token: oldToken })
  assert.equal(answer.status, 400)
  const run = await send(pod.url, '/v1/run', {
    body,
    token: oldToken,
    headers: { 'x-request-id': 'the-run-itself' },
  })
  assert.equal(run.json['stdout'], 'from a pod\n', run.text)

  // A new version of the Secret: the old token ends, without a restart.
  fill(secret.own, '2026_02', { 'tokens.json': tokensOf(newToken) }, 0o440)
  const admitted = async (token: string) => (await send(pod.url, '/v1/stats', { token })).status
  while ((await admitted(newToken)) !== 200) await pause(lookEveryMs)
  assert.equal(await admitted(oldToken), 401)

  pod.child.kill('SIGTERM')
  assert.equal(await pod.ended, 0)
  const records = pod.lines.slice(1).map((line) => JSON.parse(line) as Record<string, unknown>)
  const audited = records.filter(({ statement }) => statement !== undefined)
  assert.deepEqual(
    audited.map(({ sequence, client }) => [sequence, client]),
    [[1, 'app']],
  )
  const requests = records.filter(({ statement }) => statement === undefined)
  const found = requests.find(({ requestId }) => requestId === 'the-run-itself')
  assert.partialDeepStrictEqual(found, { method: 'POST', path: '/v1/run', status: 200, client: 'app' })
  assert.ok(!JSON.stringify(records).includes('secret=no'), 'the query is not logged')
  assert.ok(requests.some(({ path, status: sent }) => path === '/metrics' && sent === 403))
})

test('a Secret that everybody may read is refused with the mode to give it', { skip }, async () => {
  const { shown } = makeVolume('open', { 'tokens.json': tokensOf(oldToken) }, 0o644)
  const { exitCode, stderr } = await runCli(['serve', '--tokens', join(shown, 'tokens.json')], surroundings)
  assert.equal(exitCode, 64)
  assert.match(stderr, /can be read or written by others.*defaultMode: 0440/s)
})

test(
  'a Secret of another group, and a configuration that can be written, are refused',
  { skip },
  async () => {
    const secret = makeVolume('foreign', { 'tokens.json': tokensOf(oldToken) }, 0o440)
    const others = await runCli(['serve', '--tokens', join(secret.shown, 'tokens.json')], { cwd: '/' })
    assert.match(others.stderr, /can be read or written by others/, 'for root, whom no group lets read')
    const settings = makeVolume('writable', { 'lazaret.config.json': '{}' }, 0o644)
    const named = ['doctor', '--config', join(settings.own, 'lazaret.config.json')]
    const { exitCode, stderr } = await runCli(named, surroundings)
    assert.equal(exitCode, 64)
    assert.match(stderr, /can be written by everybody/)
  },
)
