/** Programs for features that only Bun has. */
import type { CompatibilityProgram } from './program.ts'

export const bunOnly: readonly CompatibilityProgram[] = [
  {
    title: 'Bun.serve with routes, fetch, a WebSocket, a Unix socket',
    code: `
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: { '/hello/:name': (request) => Response.json({ hello: request.params.name }) },
  fetch: (request, server) => (server.upgrade(request) ? undefined : new Response('none', { status: 404 })),
  websocket: { message: (socket, text) => socket.send('echo ' + text) },
})
console.log(JSON.stringify(await (await fetch(server.url + 'hello/guest')).json()), (await fetch(server.url)).status)
const socket = new WebSocket(String(server.url).replace('http', 'ws'))
const answer = new Promise((resolve) => (socket.onmessage = ({ data }) => resolve(data)))
socket.onopen = () => socket.send('over')
console.log(await answer)
socket.close()
await server.stop(true)
const unix = Bun.serve({ unix: 'web.sock', fetch: () => new Response('unix') })
console.log(await (await fetch('http://localhost/', { unix: 'web.sock' })).text())
await unix.stop(true)`,
    prints: '{"hello":"guest"} 404\necho over\nunix\n',
  },
  {
    title: 'Bun.spawn with pipes, IPC and resource usage; spawnSync',
    files: {
      'child.ts': 'process.on("message", (n: number) => { process.send!(n * 2); process.disconnect() })\n',
    },
    code: `
const sort = Bun.spawn(['sort'], { stdin: 'pipe' })
sort.stdin.write('b\\na\\n')
sort.stdin.end()
console.log(JSON.stringify(await sort.stdout.text()), await sort.exited, sort.resourceUsage().maxRSS > 0)
const answered = Promise.withResolvers()
const child = Bun.spawn([process.execPath, 'child.ts'], { ipc: answered.resolve })
child.send(21)
console.log(await answered.promise, await child.exited)
console.log(Bun.spawnSync(['sh', '-c', 'exit 3']).exitCode)`,
    prints: '"a\\nb\\n" 0 true\n42 0\n3\n',
  },
  {
    title: 'Bun.$: pipes, redirections, globs, variables, its own builtins',
    files: { 'one.txt': '1\n', 'two.txt': '2\n' },
    code: `
import { $ } from 'bun'
console.log((await $\`cat *.txt | sort -r\`.text()).trim().replace('\\n', ' '))
await $\`echo \${'a b; echo c'} > out.log && mkdir -p deep/er && mv out.log deep/er/\`
console.log((await Bun.file('deep/er/out.log').text()).trim(), (await $\`ls deep\`.text()).trim())
const { exitCode } = await $\`exit 4\`.nothrow()
console.log(exitCode, (await $\`echo $ADDED\`.env({ ADDED: 'yes' }).text()).trim())`,
    prints: '2 1\na b; echo c er\n4 yes\n',
  },
  {
    title: 'Bun.file and Bun.write: slices, copies, writers, a type by name',
    code: `
await Bun.write('a.json', JSON.stringify({ a: 1 }))
const file = Bun.file('a.json')
console.log(file.type, file.size, (await file.json()).a, await file.slice(0, 4).text())
await Bun.write(Bun.file('b.json'), file)
const writer = Bun.file('c.txt').writer()
for (let index = 0; index < 1000; index++) writer.write('0123456789')
await writer.end()
console.log(await Bun.file('b.json').exists(), Bun.file('c.txt').size, Bun.peek(1))
await Bun.file('c.txt').delete()
console.log(await Bun.file('c.txt').exists())`,
    prints: 'application/json;charset=utf-8 7 1 {"a"\ntrue 10000 1\nfalse\n',
  },
  {
    title: 'bun:sqlite: a file with a write-ahead log, transactions, serialization',
    code: `
import { Database } from 'bun:sqlite'
const database = new Database('data.db')
console.log(database.query('PRAGMA journal_mode = WAL').get().journal_mode)
database.run('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)')
const insert = database.prepare('INSERT INTO item (name) VALUES (?)')
database.transaction((names) => { for (const name of names) insert.run(name) })(Array.from({ length: 1000 }, (_, index) => 'item ' + index))
console.log(database.query('SELECT count(*) AS n FROM item').get().n)
database.close()
const again = new Database('data.db')
console.log(again.query('SELECT name FROM item WHERE id = ?').get(1000).name)
console.log(Database.deserialize(new Database(':memory:').serialize()).filename === 'data.db')`,
    prints: 'wal\n1000\nitem 999\nfalse\n',
  },
  {
    title: 'Bun.password, hashes, compression, HTMLRewriter, Glob, Transpiler',
    code: `
console.log(await Bun.password.verify('secret', await Bun.password.hash('secret', { algorithm: 'argon2id', memoryCost: 1024, timeCost: 2 })))
console.log(Bun.hash('text').toString(16), Bun.CryptoHasher.hash('sha1', 'abc', 'hex'), Buffer.from(Bun.gunzipSync(Bun.gzipSync('zip'))).toString())
console.log(await new HTMLRewriter().on('b', { element: (element) => element.setInnerContent('new') }).transform(new Response('<b>old</b>')).text())
await Bun.write('d/e.ts', '')
console.log([...new Bun.Glob('**/*.ts').scanSync('.')].join())
console.log(new Bun.Transpiler({ loader: 'ts' }).transformSync('const a: number = 1; export { a }').includes('number'))`,
    prints:
      'true\n2a4d2018c92147d8 a9993e364706816aba3e25717850c26c9cd0d89d zip\n<b>new</b>\nd/e.ts\nfalse\n',
  },
  {
    title: 'Bun.build of a project, bun run of a script, bun test',
    files: {
      'package.json': '{"name":"project","scripts":{"hello":"echo from the script"}}',
      'entry.ts': 'import { part } from "./part"\nconsole.log(part satisfies string)\n',
      'part.ts': 'export const part: string = "bundled"\n',
      'sum.test.ts': 'import { expect, test } from "bun:test"\ntest("sums", () => expect(1 + 1).toBe(2))\n',
    },
    code: `
const built = await Bun.build({ entrypoints: ['./entry.ts'], outdir: 'out', minify: true })
const bun = (...args) => Bun.spawnSync([process.execPath, ...args])
console.log(built.success, bun('out/entry.js').stdout.toString().trim())
console.log(bun('run', '--silent', 'hello').stdout.toString().trim())
const { exitCode, stderr } = bun('test')
console.log(exitCode, /1 pass/.test(stderr.toString()))`,
    prints: 'true bundled\nfrom the script\n0 true\n',
  },
  {
    title: 'bun:ffi: a function of the C library',
    code: `
import { dlopen, FFIType } from 'bun:ffi'
const { symbols } = dlopen('libc.so.6', { abs: { args: [FFIType.i32], returns: FFIType.i32 } })
console.log(symbols.abs(-42))`,
    prints: '42\n',
  },
  {
    title: 'Bun.listen and Bun.connect over TCP, Bun.udpSocket, a web Worker',
    files: { 'worker.ts': 'self.onmessage = ({ data }: { data: number }) => postMessage(data * 2)\n' },
    code: `
const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: (socket, data) => { socket.write('got ' + data) } } })
const heard = Promise.withResolvers()
const client = await Bun.connect({ hostname: '127.0.0.1', port: listener.port, socket: { data: (socket, data) => heard.resolve(String(data)) } })
client.write('tcp')
console.log(await heard.promise)
client.end()
listener.stop(true)
const datagram = Promise.withResolvers()
const receiver = await Bun.udpSocket({ hostname: '127.0.0.1', socket: { data: (socket, data) => datagram.resolve(String(data)) } })
const sender = await Bun.udpSocket({ hostname: '127.0.0.1' })
sender.send('udp', receiver.port, '127.0.0.1')
console.log(await datagram.promise)
receiver.close()
sender.close()
const worker = new Worker('./worker.ts')
worker.postMessage(21)
console.log(await new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data))))
worker.terminate()`,
    prints: 'got tcp\nudp\n42\n',
  },
]
