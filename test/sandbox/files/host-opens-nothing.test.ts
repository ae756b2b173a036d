/** While files of a sandbox are read and written, the host process opens none of them, as strace shows. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const tools = spawnSync('strace', ['-V']).status === 0
const entry = new URL('../../../src/index.ts', import.meta.url).href
const program = `
import { createLazaret } from '${entry}'
import { accessSync } from 'node:fs'
await using lazaret = createLazaret()
await using sandbox = await lazaret.sandbox()
try { accessSync('/the-operations-begin') } catch {}
await sandbox.exec('ln -s /etc/passwd guestlink; mkdir guestfolder; mkfifo guestpipe')
await sandbox.writeFile('guestfolder/guestfile', 'text')
await sandbox.readFile('guestfolder/guestfile')
await sandbox.readFile('guestlink')
await sandbox.readFile('guestpipe').catch(() => undefined)
await sandbox.mkdir('guestfolder/guestmade')
await sandbox.listFiles('/workspace', { recursive: true })
await sandbox.stat('guestlink')
await sandbox.renameFile('guestfolder/guestfile', 'guestname')
await sandbox.moveFile('guestname', '/tmp/guestmoved')
const chunks = []
for await (const chunk of sandbox.downloadTar()) chunks.push(chunk)
await sandbox.uploadTar(Buffer.concat(chunks), { path: '/workspace/guestcopy' })
await sandbox.deleteFile('guestfolder', { recursive: true })
try { accessSync('/the-operations-end') } catch {}
`

test(
  'the host process names no path of a guest in any system call; processes in the cell do',
  { skip: tools ? false : 'strace is not installed' },
  (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'strace-test-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'program.mjs'), program)
    const output = join(folder, 'trace')
    const args = ['-ff', '-s', '4096', '-e', 'trace=%file,clone,clone3', '-o', output]
    const node = [process.execPath, join(folder, 'program.mjs')]
    const { status, stderr } = spawnSync('strace', [...args, ...node], { encoding: 'utf8', timeout: 120_000 })
    assert.equal(status, 0, stderr)
    const files = readdirSync(folder).filter((name) => name.startsWith('trace.'))
    const traces = new Map(files.map((name) => [name.slice(6), readFileSync(join(folder, name), 'utf8')]))
    const host = hostThreads(traces)
    const ofHost = host.map((thread) => traces.get(thread) ?? '').join('')
    const between = /the-operations-begin([^]*)the-operations-end/.exec(ofHost)?.[1]
    assert.ok(between !== undefined && host.length > 1)
    assert.doesNotMatch(ofHost, /guest(link|folder|pipe|file|made|name|moved|copy)|"\/workspace/)
    assert.doesNotMatch(between, /"\/proc\/\d+\/(root|cwd|fd)/)
    // Proves that a trace would show such an open. Only root can trace a cell.
    if (process.getuid?.() !== 0) return
    const others = [...traces].filter(([thread]) => !host.includes(thread)).map(([, trace]) => trace)
    assert.match(others.join(''), /guestfolder\/guestfile/)
  },
)

/** The threads of the first process, but not of processes that it starts. */
function hostThreads(traces: ReadonlyMap<string, string>): readonly string[] {
  const first = [...traces].find(([, trace]) => /^execve\(.*program\.mjs/.test(trace))?.[0]
  assert.ok(first !== undefined)
  const threads = [first]
  for (const thread of threads) {
    const made = (traces.get(thread) ?? '').matchAll(/^clone3?\(.*CLONE_THREAD.* = (\d+)$/gm)
    threads.push(...[...made].map(([, number = '']) => number))
  }
  return threads
}
