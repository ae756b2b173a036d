/** A sandbox on a server behaves like one in this process: commands, sessions, processes and files. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { connectLazaret } from '../../../src/adapters/client/index.ts'
import type { LazaretError, RemoteLazaret } from '../../../src/adapters/client/index.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { adaToken, type Here, type HereOptions, serveHere } from '../http/serve-here.ts'

const skip = await whyNoSandboxes()

async function connect(
  options: HereOptions = {},
): Promise<AsyncDisposable & { here: Here; lazaret: RemoteLazaret }> {
  const here = await serveHere(options)
  const lazaret = connectLazaret({ url: here.url, token: adaToken })
  return { here, lazaret, [Symbol.asyncDispose]: () => here[Symbol.asyncDispose]() }
}

test(
  'commands run in it one after another, with files, variables, credentials and sessions',
  { skip },
  async () => {
    await using connected = await connect()
    await using sandbox = await connected.lazaret.sandbox({
      id: 'mine',
      files: { 'hello.txt': 'hi', 'bytes.bin': new Uint8Array([0, 255]) },
      env: { GREETING: 'hello' },
    })
    assert.equal(sandbox.id, 'mine')
    assert.ok(sandbox.limits.memoryBytes > 0)
    const { stdout, exitCode, success, receipt } = await sandbox.exec(
      'cat hello.txt; echo $GREETING; cd /tmp; exit 3',
    )
    assert.deepEqual([stdout, exitCode, success], ['hihello\n', 3, false])
    assert.ok(receipt.layers.length > 0)
    assert.equal((await sandbox.exec('pwd')).stdout, '/tmp\n')
    assert.equal((await sandbox.exec('cat', { stdin: new Uint8Array([104, 105]) })).stdout, 'hi')
    const secret = await sandbox.exec('echo $KEY', { env: { KEY: 'sesame' }, timeout: 30_000 })
    assert.deepEqual([secret.stdout, secret.isolation.space], ['sesame\n', 'secure'])
    await sandbox.setEnvVars({ GREETING: undefined, MORE: 'yes' })
    assert.equal((await sandbox.exec('echo "$GREETING$MORE"')).stdout, 'yes\n')
    const session = await sandbox.createSession({ id: 'side', cwd: '/tmp', env: { OWN: '1' } })
    assert.equal((await session.exec('pwd; echo $OWN; cd /')).stdout, '/tmp\n1\n')
    assert.equal((await sandbox.getSession('side'))?.cwd, '/')
    assert.equal(await sandbox.deleteSession('side'), true)
    assert.equal(await sandbox.deleteSession('side'), false)
    await assert.rejects(session.exec('pwd'), { code: 'SESSION_GONE' })
    await assert.rejects(sandbox.exec(' '), { code: 'INVALID_REQUEST' })
  },
)

test('output arrives at once, and a cancelled command keeps its output', { skip }, async () => {
  await using connected = await connect()
  await using sandbox = await connected.lazaret.sandbox()
  const controller = new AbortController()
  const pieces: string[] = []
  const { outcome, stdout } = await sandbox.exec('echo ready; sleep 85001', {
    signal: controller.signal,
    onOutput: ({ text }) => {
      pieces.push(text)
      controller.abort()
    },
  })
  assert.deepEqual([outcome, stdout, pieces], [{ kind: 'cancelled' }, 'ready\n', ['ready\n']])
  const events: string[] = []
  for await (const event of sandbox.execStream('echo out; echo err >&2; exit 4')) {
    if (event.type === 'complete') events.push(`exit ${event.result.exitCode}`)
    else if (event.type !== 'error') events.push(event.type === 'start' ? event.command : event.text)
  }
  assert.deepEqual(events.toSorted(), ['echo out; echo err >&2; exit 4', 'err\n', 'exit 4', 'out\n'])
  for await (const event of sandbox.execStream('echo once; sleep 85002')) if (event.type === 'stdout') break
  // A command without output has begun, too.
  assert.equal((await sandbox.exec('sleep 0.5; exit 5', { onOutput: () => undefined })).exitCode, 5)
})

test('processes continue between requests, which watch, await, write to and end them', { skip }, async () => {
  await using connected = await connect()
  await using sandbox = await connected.lazaret.sandbox()
  const server = await sandbox.startProcess('python3 -u -m http.server 8123', { id: 'web' })
  await server.waitForPort(8123)
  assert.equal((await server.look()).status, 'running')
  await sandbox.exec('python3 -c "import urllib.request as r; r.urlopen(\'http://127.0.0.1:8123/\')"')
  assert.match((await server.waitForLog(/"GET \/ HTTP/)).line, /200/)
  assert.match((await server.getLogs()).stderr, /GET/)
  assert.deepEqual(
    (await sandbox.listProcesses()).map(({ id }) => id),
    ['web'],
  )
  assert.equal(await sandbox.killProcess('web'), true)
  assert.equal(await sandbox.killProcess('web'), false)
  assert.equal(await sandbox.getProcess('nobody'), undefined)
  const echo = await sandbox.startProcess('read line; echo "got $line"; exit 6')
  await echo.write('this\n')
  let printed = ''
  for await (const { text } of echo.streamLogs()) printed += text
  assert.equal(printed, 'got this\n')
  assert.deepEqual(await echo.waitForExit(), { exitCode: 6 })
  assert.deepEqual(await echo.look(), { status: 'failed', exitCode: 6 })
  await assert.rejects(echo.waitForPort(1), { code: 'PROCESS_ENDED' })
  const sorted = await sandbox.startProcess('sort')
  await sorted.write('b\na\n')
  await sorted.closeStdin()
  assert.deepEqual(await sorted.waitForExit(), { exitCode: 0 })
  assert.equal((await sorted.getLogs()).stdout, 'a\nb\n')
  const stubborn = await sandbox.startProcess('sleep 85003')
  await assert.rejects(stubborn.waitForExit({ timeout: 10 }), { code: 'WAIT_TIMED_OUT' })
  await stubborn.kill('SIGKILL')
  assert.deepEqual(await stubborn.waitForExit(), { exitCode: 137 })
  assert.equal(await sandbox.killAllProcesses(), 0)
})

test(
  'files are written, read, listed, moved and deleted, and whole folders go as tar',
  { skip },
  async () => {
    await using connected = await connect()
    await using sandbox = await connected.lazaret.sandbox()
    const odd = 'folder/odd ?#%é/..name'
    await assert.rejects(sandbox.writeFile(odd, ''), { code: 'FILE_NOT_FOUND' })
    await sandbox.writeFile(odd, '\ufefftext', { createParents: true })
    assert.equal(await sandbox.readFile(odd), '\ufefftext')
    await sandbox.writeFile('/tmp/bytes', new Uint8Array([0, 255]))
    assert.deepEqual(await sandbox.readFile('/tmp/bytes', { encoding: 'bytes' }), new Uint8Array([0, 255]))
    assert.equal(await sandbox.readFile('/tmp/bytes', { encoding: 'base64' }), 'AP8=')
    await assert.rejects(sandbox.readFile('/tmp/bytes', { bytesMax: 1 }), { code: 'FILE_TOO_LARGE' })
    await assert.rejects(sandbox.readFile('missing'), { code: 'FILE_NOT_FOUND' })
    const { type, bytes } = await sandbox.stat(odd)
    assert.deepEqual([type, bytes], ['file', 7])
    const listing = await sandbox.listFiles(undefined, { recursive: true })
    assert.deepEqual(
      listing.entries.map(({ path }) => path),
      ['folder', 'folder/odd ?#%é', odd],
    )
    assert.deepEqual([await sandbox.exists(odd), await sandbox.exists('nothing')], [true, false])
    await sandbox.mkdir('a/b', { recursive: true })
    await sandbox.renameFile(odd, 'a/b/c')
    await sandbox.moveFile('a/b/c', '/tmp/c')
    await assert.rejects(sandbox.deleteFile('a'), { code: 'NOT_A_FILE', hint: /`recursive: true`/ })
    await sandbox.deleteFile('a', { recursive: true })
    const large = Buffer.alloc(5_000_000, 'abcdefg')
    await sandbox.writeFile('large', large)
    assert.ok(Buffer.from(await sandbox.readFile('large', { encoding: 'bytes' })).equals(large))
    const tar: Uint8Array[] = []
    for await (const piece of sandbox.downloadTar()) tar.push(piece)
    await using other = await connected.lazaret.sandbox()
    const archive = Buffer.concat(tar)
    async function* inPieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < archive.length; at += 100_000) yield archive.subarray(at, at + 100_000)
    }
    assert.equal((await other.uploadTar(inPieces(), { path: '/workspace/copy' })).bytes, large.length)
    assert.equal((await other.exec('wc -c < copy/large')).stdout.trim(), String(large.length))
    await assert.rejects(other.uploadTar(new Uint8Array(1024).fill(65)), { code: 'ARCHIVE_REFUSED' })
  },
)

test('it is found by its name, until it is destroyed or was idle too long', { skip }, async () => {
  await using connected = await connect()
  const { lazaret } = connected
  const sandbox = await lazaret.sandbox({ id: 'kept' })
  await sandbox.writeFile('note', 'still here')
  assert.equal(await (await lazaret.getSandbox('kept'))?.readFile('note'), 'still here')
  assert.deepEqual(
    (await lazaret.listSandboxes()).map(({ id }) => id),
    ['kept'],
  )
  await assert.rejects(lazaret.sandbox({ id: 'kept' }), {
    code: 'INVALID_REQUEST',
    message: /already exists/,
  })
  await sandbox.destroy()
  await sandbox.destroy()
  await assert.rejects(sandbox.exec('true'), { code: 'SANDBOX_GONE' })
  assert.equal(await lazaret.getSandbox('kept'), undefined)
  const idle = await lazaret.sandbox({ idleTimeoutMs: 1 })
  while ((await lazaret.getSandbox(idle.id)) !== undefined);
  await assert.rejects(idle.readFile('x'), { code: 'SANDBOX_GONE' })
})

test('one sandbox too many is an error that is not retried, as in the library', { skip }, async () => {
  await using connected = await connect({ bounds: { sandboxesPerTokenMax: 1 } })
  await using first = await connected.lazaret.sandbox()
  assert.notEqual(first.id, '')
  await assert.rejects(connected.lazaret.sandbox(), (error: LazaretError) => {
    const { code, message, hint, retryable, retryAfterMs } = error
    assert.deepEqual([code, message], ['CLIENT_QUEUE_FULL', 'The token already has 1 sandboxes.'])
    return hint.startsWith('Destroy one') && !retryable && retryAfterMs === undefined
  })
})

test('content that is neither text nor bytes is refused as in the library', { skip }, async () => {
  await using connected = await connect()
  await using sandbox = await connected.lazaret.sandbox()
  const invalid = { code: 'INVALID_REQUEST' }
  const strange: unknown[] = [new ArrayBuffer(3), new Blob(['abc']), new Blob(['abc']).stream(), [1], 5, null]
  for (const content of strange as Uint8Array[]) {
    await assert.rejects(sandbox.writeFile('file', content), invalid)
    await assert.rejects(sandbox.exec('cat', { stdin: content }), invalid)
    const files = { file: content }
    await assert.rejects(connected.lazaret.run({ language: 'shell', code: ':', files }), invalid)
    await assert.rejects(connected.lazaret.sandbox({ files }), invalid)
  }
  await assert.rejects(sandbox.uploadTar(strange[0] as Uint8Array), invalid)
  assert.equal(await sandbox.exists('file'), false)
  const elsewhere = runInNewContext('new Uint8Array([104, 105])') as Uint8Array
  await sandbox.writeFile('file', elsewhere)
  assert.equal((await sandbox.exec('cat file -', { stdin: elsewhere })).stdout, 'hihi')
})

test('a wrong signal, and null in place of options, are refused as in the library', { skip }, async () => {
  await using connected = await connect()
  const { lazaret } = connected
  await using sandbox = await lazaret.sandbox()
  const invalid = { code: 'INVALID_REQUEST' }
  for (const signal of ['stop', {}, null] as unknown[] as AbortSignal[]) {
    await assert.rejects(lazaret.run({ language: 'shell', code: ':', signal }), invalid)
    await assert.rejects(sandbox.exec(':', { signal }), invalid)
    await assert.rejects(sandbox.startProcess(':', { signal }), invalid)
    await assert.rejects(sandbox.runCode('1', { signal }), invalid)
  }
  for (const nothing of [null, 'text', 5] as unknown[] as object[]) {
    await assert.rejects(lazaret.run(nothing as Parameters<typeof lazaret.run>[0]), invalid)
    await assert.rejects(lazaret.sandbox(nothing), invalid)
    await assert.rejects(sandbox.exec(':', nothing), invalid)
    await assert.rejects(sandbox.startProcess(':', nothing), invalid)
  }
  await assert.rejects(lazaret.run(undefined as unknown as Parameters<typeof lazaret.run>[0]), invalid)
  assert.deepEqual(await sandbox.listProcesses(), [])
})

test('a misspelled option is refused as in the library', { skip }, async () => {
  await using connected = await connect()
  await using sandbox = await connected.lazaret.sandbox({ files: { 'file.txt': 'text' } })
  const invalid = { code: 'INVALID_REQUEST' }
  const misspelled: object = { timeoutMs: 100, createFolders: true }
  await assert.rejects(sandbox.runCode('1', misspelled), invalid)
  await assert.rejects(sandbox.writeFile('new.txt', '', misspelled), invalid)
  await assert.rejects(sandbox.readFile('file.txt', misspelled), invalid)
  await assert.rejects(sandbox.readFile('file.txt', { encoding: 'latin1' as 'utf8' }), invalid)
  await assert.rejects(sandbox.readFile('file.txt', { bytesMax: Number.NaN }), invalid)
})
