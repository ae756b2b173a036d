import type { RuntimePrograms } from './programs.ts'

const MiB = 1024 * 1024
const quote = (text: string): string => JSON.stringify(text)
const files = "import * as fs from 'node:fs'\n"
const processes = "import { spawn } from 'node:child_process'\n"

/** The same programs for both engines, because guests must not notice a difference. */
function javascriptPrograms(runtime: 'bun' | 'node', memoryBytes: number): RuntimePrograms {
  return {
    runtime,
    language: 'javascript',
    print: (text) => `process.stdout.write(${quote(text)}); undefined`,
    printToBoth: "for (const number of [1, 2]) { console.log('out', number); console.error('err', number) }",
    exitWith: (exitCode) => `process.exit(${exitCode})`,
    copyStdin: 'for await (const chunk of process.stdin) process.stdout.write(chunk)',
    printArguments:
      "process.stdout.write(process.argv.slice(2).map((argument) => argument + '\\0').join('')); undefined",
    printEnvironment:
      "process.stdout.write(Object.entries(process.env).map(([name, value]) => `${name}=${value}\\0`).join('')); undefined",
    printFiles: (...paths) =>
      `${files}for (const path of ${JSON.stringify(paths)}) process.stdout.write(fs.readFileSync(path))\nundefined`,
    printOwnership: (...paths) =>
      `${files}for (const { mode, uid, gid } of ${JSON.stringify(paths)}.map((path) => fs.statSync(path)))` +
      '  console.log((mode & 0o7777).toString(8), uid, gid)',
    printLinks: (...paths) =>
      `${files}for (const path of ${JSON.stringify(paths)}) console.log(fs.readlinkSync(path))`,
    printNames: (...paths) =>
      `${files}for (const path of ${JSON.stringify(paths)}) console.log(fs.readdirSync(path).join('\\n'))`,
    printBytes: (bytes) => `process.stdout.write(Uint8Array.of(${bytes.join(', ')})); undefined`,
    fill: (bytes) => `process.stdout.write('x'.repeat(${bytes})); undefined`,
    printThenLoop: (text) => `process.stdout.write(${quote(text)}); for (;;) {}`,
    printThenSleep: (text) =>
      `process.stdout.write(${quote(text)}); await new Promise((resolve) => setTimeout(resolve, 2 ** 30))`,
    loopInChildren: (children, text) =>
      `${processes}const loops = Array.from({ length: ${children} }, () => spawn('bash', ['-c', 'while :; do :; done']))\n` +
      `process.stdout.write(${quote(text)}); await new Promise((resolve) => loops[0].on('exit', resolve))`,
    dieBy: (signal, text) =>
      `process.stdout.write(${quote(text)}); process.kill(process.pid, '${signal}'); for (;;) {}`,
    leaveProcessBehind: `${processes}spawn('sleep', ['infinity'], { stdio: 'inherit', detached: true }).unref(); console.log('parent is done')`,
    allocateForever: 'const pieces = []; for (;;) pieces.push(new Uint8Array(1048576).fill(1))',
    startMs: 500,
    memoryBytes,
    fillDisk: `${files}const file = fs.openSync('full', 'w'); for (;;) fs.writeSync(file, new Uint8Array(65536))`,
    spawnForever: `${processes}for (;;) await new Promise((resolve, reject) => spawn('sleep', ['infinity']).on('spawn', resolve).on('error', reject))`,
    spy:
      `${files}const names = Array.from({ length: 350 }, (_, n) => process.pid - 300 + n)\n` +
      "try { names.push(...fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name))) } catch {}\n" +
      'const runs = Array.from({ length: 300 }, (_, n) => [`../../run-${n}`, `../../run-${n}/workspace`]).flat()\n' +
      "for (const name of names) try { console.log(fs.readFileSync(`/proc/${name}/environ`, 'utf8')) } catch {}\n" +
      "for (const path of ['/tmp', '..', '../tmp', '../..', '../../..', ...runs])" +
      '  try { console.log(fs.readdirSync(path).join()) } catch {}',
    errors: {
      uncaught: {
        code: "function fail() {\n  throw new RangeError('no good')\n}\nfail()",
        error: { name: 'RangeError', message: 'no good', line: 2 },
      },
      syntax: { code: 'const first = 1\nconst second = = 2', error: { name: 'SyntaxError', line: 2 } },
    },
    value: { code: '({ sum: 1 + 1 })', value: { sum: 2 }, text: '{ sum: 2 }' },
    input: { code: '[input]', received: ({ value }) => (value as unknown[])[0] },
    console: {
      code: "console.log('one'); console.warn('two %d', 2); console.error('three'); console.debug('four'); console.info('five')",
      logs: [
        { level: 'log', text: 'one' },
        { level: 'warn', text: 'two 2' },
        { level: 'error', text: 'three' },
        { level: 'debug', text: 'four' },
        { level: 'info', text: 'five' },
      ],
    },
    toolchainOnPath: true,
  }
}

export const bunPrograms = javascriptPrograms('bun', 192 * MiB)
export const nodePrograms = javascriptPrograms('node', 192 * MiB)
