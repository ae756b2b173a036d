/** The tarball as a stranger gets it: packed, installed elsewhere, used without a compiler and without this checkout. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { SpawnSyncReturns } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ProbeReport } from '../src/jail/probe-report.ts'
import { checkoutRoot, readText } from './support/checkout.ts'

interface PackedFile {
  readonly path: string
  readonly mode: number
}

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly PackedFile[]
}

/** It is 4.7 MB now: 1.1 MB of it the libraries, 0.9 the launcher, 0.4 the documents. Growth beyond this should be a decision. */
const unpackedBytesMax = 5 * 1024 * 1024
const installMs = 60_000

const root = mkdtempSync(join(tmpdir(), 'lazaret-package-'))
const consumer = join(root, 'consumer')
const tools = join(root, 'bin')
const npm = findNpm()
let packed: Packed

before(() => {
  makeTools()
  packed = pack()
  install()
})
after(() => rmSync(root, { recursive: true, force: true }))

test('the tarball holds what was built, the launcher as a program, and no source or test', () => {
  const modes = new Map(packed.files.map(({ path, mode }) => [path, mode & 0o777]))
  assert.equal(modes.get(`native/bin/cell-linux-${process.arch}`), 0o755)
  for (const path of [
    'dist/index.js',
    'dist/index.d.ts',
    'dist/runtimes/python/guest.py',
    'profiles/apparmor/lazaret-cell',
    'profiles/docker/seccomp.json',
    'profiles/kubernetes/seccomp.json',
    'LICENSE',
    'README.md',
  ]) {
    assert.ok(modes.has(path), path)
  }
  assert.equal(modes.get('dist/adapters/cli/main.js'), 0o755)
  const allowed =
    /^(dist\/|docs\/|profiles\/|native\/bin\/(cell-linux-(x64|arm64)|zygote-linux-(x64|arm64)\.so)$|package\.json$|LICENSE$|[A-Z_]+\.md$)/
  assert.deepEqual(
    [...modes.keys()].filter((path) => !allowed.test(path)),
    [],
  )
})

test('what its README links to comes along', () => {
  const paths = packed.files.map(({ path }) => path)
  const links = [...readText('README.md').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link)
  assert.ok(links.includes('docs/python.md') && links.includes('docs/functions.md'), links.join(' '))
  for (const link of links)
    assert.ok(
      paths.some((path) => path === link || path.startsWith(`${link}/`)),
      link,
    )
})

test('the tarball is small', (context) => {
  context.diagnostic(`unpacked: ${packed.unpackedSize} bytes`)
  assert.ok(packed.unpackedSize < unpackedBytesMax, `${packed.unpackedSize} bytes`)
})

test('nobody who installs it finds a compiler or this checkout on the PATH', () => {
  for (const name of ['cc', 'gcc', 'clang', 'tcc'])
    assert.notEqual(use('sh', ['-c', `command -v ${name}`]).status, 0, name)
  assert.ok(!realpathSync(join(consumer, 'node_modules/lazaret')).startsWith(checkoutRoot))
})

const greetings = {
  shell: { code: 'echo hi', answer: 'hi\n' },
  python: { code: 'print("hi")', answer: 'hi\n' },
  typescript: { code: 'const greeting: string = "hi"; console.log(greeting)', answer: 'hi\n' },
}

for (const [language, { code, answer }] of Object.entries(greetings)) {
  test(`installed elsewhere, it runs ${language}`, () => {
    const { status, stdout, stderr } = use('lazaret', ['run', '-l', language, '-e', code])
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: answer, stderr: '' })
  })
}

test('installed elsewhere, doctor finds the launcher that came along', () => {
  const { status, stdout } = use('lazaret', ['doctor', '--json'])
  const report = JSON.parse(stdout) as ProbeReport
  assert.equal(status, 0)
  assert.equal(report.launcher.state, 'ok')
  assert.equal(
    report.launcher.path,
    join(realpathSync(consumer), `node_modules/lazaret/native/bin/cell-linux-${process.arch}`),
  )
})

test('installed elsewhere, doctor prints an AppArmor profile with the launcher’s real path', () => {
  const { status, stdout, stderr } = use('lazaret', ['doctor', '--apparmor'])
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  const path = join(realpathSync(consumer), `node_modules/lazaret/native/bin/cell-linux-${process.arch}`)
  assert.ok(stdout.includes(`\nprofile lazaret-cell "${path}" flags=(unconfined) {\n  userns,\n`), stdout)
  assert.ok(!stdout.includes('/path/to/'), stdout)
})

test('installed elsewhere, it can be imported', () => {
  const program = `import { createLazaret } from 'lazaret'
await using lazaret = createLazaret()
console.log((await lazaret.run({ language: 'python', code: 'input_data * 2', input: 21 })).value)`
  writeFileSync(join(consumer, 'program.mjs'), program)
  const { stdout, stderr } = use('node', ['program.mjs'])
  assert.deepEqual({ stdout, stderr }, { stdout: '42\n', stderr: '' })
})

/** A PATH with nothing but these. The interpreters and the shell of the machine are found in /usr/bin. */
function makeTools(): void {
  mkdirSync(tools, { recursive: true })
  symlinkSync(process.execPath, join(tools, 'node'))
  for (const name of ['sh', 'env']) symlinkSync(`/usr/bin/${name}`, join(tools, name))
}

/** Without scripts: what `npm test` has just built is packed, and nothing is rebuilt under running tests. */
function pack(): Packed {
  const packing = runNpm(['pack', '--ignore-scripts', '--json', '--pack-destination', root, checkoutRoot])
  assert.equal(packing.status, 0, packing.stderr)
  const answer: unknown = JSON.parse(packing.stdout)
  // An array of packages up to npm 11, an object by name later.
  return Object.values(answer as Record<string, Packed>)[0] as Packed
}

function install(): void {
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), '{"private":true,"type":"module"}')
  const tarball = join(root, packed.filename)
  const installing = runNpm([
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--fetch-retries=0',
    tarball,
  ])
  if (installing.status === 0) return
  process.stderr.write(
    'package.test.ts: no registry can be reached; the dependencies are copied from this checkout.\n',
  )
  unpackWithOurDependencies(tarball)
}

function unpackWithOurDependencies(tarball: string): void {
  const modules = join(consumer, 'node_modules')
  rmSync(modules, { recursive: true, force: true })
  mkdirSync(join(modules, 'lazaret'), { recursive: true })
  const unpacking = spawnSync('tar', [
    '-xzf',
    tarball,
    '-C',
    join(modules, 'lazaret'),
    '--strip-components=1',
  ])
  assert.equal(unpacking.status, 0)
  const lock = JSON.parse(readText('package-lock.json')) as { packages: Record<string, { dev?: boolean }> }
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    if (path === '' || dev === true || !existsSync(join(checkoutRoot, path))) continue
    mkdirSync(dirname(join(consumer, path)), { recursive: true })
    cpSync(join(checkoutRoot, path), join(consumer, path), { recursive: true })
  }
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync('../lazaret/dist/adapters/cli/main.js', join(modules, '.bin/lazaret'))
  assert.equal(statSync(join(modules, '.bin/lazaret')).mode & 0o111, 0o111)
}

/** In the consumer's folder, with the consumer's PATH. */
function use(command: string, args: readonly string[]): SpawnSyncReturns<string> {
  const file = command === 'lazaret' ? join(consumer, 'node_modules/.bin/lazaret') : join(tools, command)
  return spawnSync(file, args, {
    cwd: consumer,
    encoding: 'utf8',
    env: { PATH: tools, HOME: root, LANG: 'C.UTF-8' },
  })
}

function runNpm(args: readonly string[]): SpawnSyncReturns<string> {
  const cwd = existsSync(consumer) ? consumer : root
  const env = { ...outerEnvironment(), PATH: tools, TMPDIR: root }
  return spawnSync(process.execPath, [npm, ...args], { cwd, encoding: 'utf8', timeout: installMs, env })
}

/** Without what an outer npm told its children about this checkout; its configuration files still count. */
function outerEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_(cache|registry|userconfig)$)|^NODE_/.test(name),
  )
  return Object.fromEntries(entries)
}

/** npm as a script, so that it runs with our Node. */
function findNpm(): string {
  const outer = process.env['npm_execpath']
  if (outer?.endsWith('npm-cli.js')) return outer
  const found = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim()
  return realpathSync(found)
}
