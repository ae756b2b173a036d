/** Everyday uses of files, compression and databases in Node and Bun. */
import type { CompatibilityProgram } from './program.ts'

export const javascriptFiles: readonly CompatibilityProgram[] = [
  {
    title: 'fs.watch sees a new file',
    code: `
import { mkdirSync, watch, writeFileSync } from 'node:fs'
mkdirSync('watched')
const watcher = watch('watched')
const seen = new Promise((resolve) => watcher.on('change', (kind, name) => resolve([kind, String(name)])))
writeFileSync('watched/new.txt', 'x')
console.log((await seen).join(' '))
watcher.close()`,
    prints: 'rename new.txt\n',
  },
  {
    title: 'fs.watchFile sees a file grow',
    code: `
import { appendFileSync, unwatchFile, watchFile, writeFileSync } from 'node:fs'
writeFileSync('log.txt', 'a')
const grown = new Promise((resolve) => watchFile('log.txt', { interval: 20 }, (now) => now.size > 1 && resolve(now.size)))
const writer = setInterval(() => appendFileSync('log.txt', 'b'), 30)
console.log((await grown) > 1)
clearInterval(writer)
unwatchFile('log.txt')`,
    prints: 'true\n',
  },
  {
    title: 'cp of a tree, copyFile, rename, links',
    code: `
import * as fs from 'node:fs'
fs.mkdirSync('from/deep', { recursive: true })
fs.writeFileSync('from/deep/a.txt', 'a')
fs.writeFileSync('from/skip.log', 'no')
fs.symlinkSync('deep/a.txt', 'from/link')
fs.cpSync('from', 'to', { recursive: true, filter: (name) => !name.endsWith('.log') })
await fs.promises.cp('to/deep', 'to/again', { recursive: true })
fs.linkSync('from/deep/a.txt', 'hard')
fs.copyFileSync('hard', 'copy', fs.constants.COPYFILE_EXCL)
fs.renameSync('copy', 'to/copy')
console.log(fs.readdirSync('to', { recursive: true }).sort().join(' '))
console.log(fs.lstatSync('to/link').isSymbolicLink(), fs.readFileSync('to/link', 'utf8'), fs.statSync('hard').nlink)
console.log(fs.realpathSync('from/link').endsWith('/from/deep/a.txt'), fs.readlinkSync('from/link'))`,
    prints: 'again again/a.txt copy deep deep/a.txt link\ntrue a 2\ntrue deep/a.txt\n',
  },
  {
    title: 'modes, times, truncation, access and who owns a file',
    code: `
import * as fs from 'node:fs'
fs.writeFileSync('file', 'text', { mode: 0o640 })
fs.chmodSync('file', 0o400)
const attempt = (action) => { try { action(); return 'allowed' } catch (error) { return error.code } }
console.log((fs.statSync('file').mode & 0o777).toString(8), attempt(() => fs.writeFileSync('file', 'x')))
fs.chmodSync('file', 0o600)
fs.truncateSync('file', 2)
fs.utimesSync('file', 1, 2)
fs.chownSync('file', process.getuid(), process.getgid())
const { size, mtimeMs, uid } = fs.statSync('file')
console.log(size, mtimeMs, uid === process.getuid(), fs.statSync('file', { bigint: true }).size)
console.log(attempt(() => fs.accessSync('none')), attempt(() => fs.accessSync('file', fs.constants.W_OK)))
console.log(fs.statfsSync('.').blocks > 0)`,
    prints: '400 EACCES\n2 2000 true 2n\nENOENT allowed\ntrue\n',
  },
  {
    title: 'file streams with ranges, through gzip and back',
    code: `
import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { createGunzip, createGzip } from 'node:zlib'
const lines = (function* () { for (let index = 0; index < 20_000; index++) yield 'line ' + index + '\\n' })()
await pipeline(Readable.from(lines), createGzip(), createWriteStream('big.gz'))
await pipeline(createReadStream('big.gz'), createGunzip(), createWriteStream('big.txt'))
console.log(statSync('big.txt').size, statSync('big.gz').size < 100_000)
console.log(JSON.stringify(await text(createReadStream('big.txt', { start: 7, end: 13 }))))`,
    prints: '208890 true\n"line 1\\n"\n',
  },
  {
    title: 'file handles: vectors, positions, lines, a 32 MiB file with a hole',
    code: `
import { open, stat } from 'node:fs/promises'
const handle = await open('data', 'w+')
await handle.writev([Buffer.from('one\\n'), Buffer.from('two\\n')])
await handle.write('end', 32 * 1024 * 1024)
await handle.datasync()
const { buffer } = await handle.read(Buffer.alloc(3), 0, 3, 4)
console.log(String(buffer), (await handle.stat()).size, (await stat('data')).blocks < 1000)
await handle.truncate(8)
await handle.close()
const lines = []
for await (const line of (await open('data')).readLines()) lines.push(line)
console.log(lines.join(','))`,
    prints: 'two 33554435 true\none,two\n',
  },
  {
    title: 'temporary folders, opendir, rm of a tree',
    code: `
import { existsSync, mkdtempSync, opendirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
const folder = mkdtempSync(join(tmpdir(), 'compat-'))
for (let index = 0; index < 500; index++) writeFileSync(join(folder, String(index)), '')
let found = 0
for await (const entry of opendirSync(folder)) found += entry.isFile() ? 1 : 0
rmSync(folder, { recursive: true })
console.log(found, existsSync(folder))`,
    prints: '500 false\n',
  },
  {
    title: 'a named pipe between two processes',
    code: `
import { execFileSync, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
execFileSync('mkfifo', ['pipe'])
spawn('sh', ['-c', 'echo through the pipe > pipe'])
console.log((await readFile('pipe', 'utf8')).trim())`,
    prints: 'through the pipe\n',
  },
  {
    title: 'gzip, deflate, Brotli, Zstandard and CRC-32, asynchronously',
    code: `
import * as zlib from 'node:zlib'
import { promisify } from 'node:util'
const text = Buffer.from('to be or not to be, '.repeat(5000))
const pairs = [['gzip', 'gunzip'], ['deflate', 'inflate'], ['deflateRaw', 'inflateRaw'], ['brotliCompress', 'brotliDecompress'], ['zstdCompress', 'zstdDecompress']]
for (const [pack, unpack] of pairs) {
  const packed = await promisify(zlib[pack])(text)
  console.log(pack, packed.length < 2000, (await promisify(zlib[unpack])(packed)).equals(text))
}
console.log(zlib.crc32('hello').toString(16))`,
    prints: [
      'gzip true true',
      'deflate true true',
      'deflateRaw true true',
      'brotliCompress true true',
      'zstdCompress true true',
      '3610a686\n',
    ].join('\n'),
  },
]
