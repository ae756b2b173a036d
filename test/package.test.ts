/** The tarball as a user gets it: packed, installed elsewhere, and used without a compiler or this checkout. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { architectures, targetsOf } from '../scripts/prebuilt.ts'
import { bundledPackages } from '../scripts/bundling/bundled-packages.ts'
import type { ProbeReport } from '../src/jail/machine/probe-report.ts'
import { checkoutRoot, listFiles, readText } from './support/sources/checkout.ts'
import { PackedProject } from './support/sources/packed-project.ts'

/**
 * It is 7.2 MB now: 1.1 MB of it the libraries, 1.8 the launchers for both processors, 1.1 library and command, 0.4 the
 * documents, 0.4 the console, most of it the terminal. Growth beyond this should be a decision.
 */
const unpackedBytesMax = 7 * 1024 * 1024

const project = new PackedProject()
const { packed, folder: consumer } = project
const installed = join(consumer, 'node_modules/lazaret')
const paths = packed.files.map(({ path }) => path)
const pages = paths.filter((path) => path.endsWith('.md'))
const isPacked = (path: string) =>
  paths.some((one) => one === path || one.startsWith(`${path.replace(/\/$/, '')}/`))
const read = (path: string) => readFileSync(join(installed, path), 'utf8')
after(() => project[Symbol.dispose]())

test('the tarball holds what was built, the launchers for both processors as programs, and no source or test', () => {
  const modes = new Map(packed.files.map(({ path, mode }) => [path, mode & 0o777]))
  for (const name of architectures.flatMap(targetsOf))
    assert.equal(modes.get(`native/bin/${name}`), 0o755, name)
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
    /^(dist\/|docs\/|profiles\/|native\/bin\/(cell-linux-(x64|arm64)|(javascript-)?zygote-linux-(x64|arm64)\.so)$|package\.json$|LICENSE$|[A-Z_]+\.md$)/
  assert.deepEqual(
    [...modes.keys()].filter((path) => !allowed.test(path)),
    [],
  )
})

test('entry files of threads and processes of the host are separate files', () => {
  const named = listFiles('src', ['.ts']).flatMap((file) =>
    [...readText(file).matchAll(/'\.\/([\w-]+\.js)'/g)].map(
      ([, name = '']) => `${dirname(file).replace(/^src/, 'dist')}/${name}`,
    ),
  )
  assert.ok(named.length > 3)
  assert.deepEqual(
    named.filter((path) => !paths.includes(path)),
    [],
  )
})

test('importing it does not load HTTP or TLS, which would take a third of the time', () => {
  const code = `await import('lazaret')
const loaded = process.moduleLoadList.filter((one) => / (?:http|https|http2|tls)$/.test(one))
console.log(JSON.stringify(loaded))`
  const args = ['--input-type=module', '--eval', code]
  assert.equal(execFileSync(process.execPath, args, { cwd: consumer, encoding: 'utf8' }), '[]\n')
})

test('no line of it, except in tables, is so long that an uncaught error fills a screen', () => {
  const chunks = paths.filter((path) => path.startsWith('dist/chunks/'))
  const long = chunks.flatMap((path) =>
    read(path)
      .split('\n')
      .filter((line) => line.length > 10_000),
  )
  assert.ok(long.length < 3, `${long.length} lines`)
})

test('the licences of the packages in the bundle are in the tarball', () => {
  const licences = read('dist/LICENSES.txt')
  for (const name of bundledPackages) assert.match(licences, new RegExp(`^${name} \\d`, 'm'))
})

test('no file of the tarball imports a package that is in the bundle', () => {
  const imported = new RegExp(`(?:from|import|require)[\\s(]*["'\`](?:${bundledPackages.join('|')})["'\`/]`)
  const code = paths.filter((path) => /\.(?:m?js|d\.ts)$/.test(path))
  assert.ok(code.length > 100)
  assert.deepEqual(
    code.filter((path) => imported.test(read(path))),
    [],
  )
})

test('a bundle in which `import.meta` is empty says what to do', async () => {
  const code = read('dist/chunks/root.js').replaceAll('import.meta', '({})')
  await assert.rejects(
    import(`data:text/javascript,${encodeURIComponent(code)}`),
    /cannot find its own files.*leave `lazaret` out of the bundle/,
  )
})

test('the manifest has no script that npm runs, or warns of, when it is installed', () => {
  const { scripts = {} } = JSON.parse(read('package.json')) as {
    readonly scripts?: object
  }
  const atInstallation = [
    'preinstall',
    'install',
    'postinstall',
    'prepublish',
    'preprepare',
    'prepare',
    'postprepare',
  ]
  assert.deepEqual(
    atInstallation.filter((name) => name in scripts),
    [],
  )
  assert.doesNotMatch(project.saidByNpm ?? '', /warn.*lazaret/i)
})

test('every link of its pages leads to a file in the package', () => {
  const broken = pages.flatMap((page) =>
    [
      ...read(page)
        .replace(/^```[\s\S]*?^```/gm, '')
        .matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g),
    ]
      .map(([, link = '']) => join(dirname(page), link))
      .filter((target) => !isPacked(target))
      .map((target) => `${page}: ${target}`),
  )
  assert.deepEqual(broken, [])
  assert.ok(pages.length > 30)
})

test('its declarations are those of its entries, and name no internal module', () => {
  const { exports } = JSON.parse(read('package.json')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>
  }
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [join(entry.types)],
  )
  const declarations = paths.filter((path) => path.endsWith('.d.ts'))
  assert.deepEqual(
    declarations.filter((path) => !path.startsWith('dist/types/')).toSorted(),
    entries.toSorted(),
  )
  const naming = declarations.filter((path) => /[\w-]+\.ts\b/.test(read(path).replaceAll('.d.ts', '')))
  assert.deepEqual(naming, [])
})

test('the tarball is small', (context) => {
  context.diagnostic(`unpacked: ${packed.unpackedSize} bytes`)
  assert.ok(packed.unpackedSize < unpackedBytesMax, `${packed.unpackedSize} bytes`)
})

test('the README says what an installation takes, and what each package of it is for', (context) => {
  if (project.saidByNpm === undefined) return context.skip('no registry can be reached')
  const table = read('README.md').split('## Installed size')[1]?.split('\n## ')[0] ?? ''
  const rows = [...table.matchAll(/^\| (`.+`) \| ([\d.]+) \|/gm)].map(([, names = '', megabytes = '']) => ({
    names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/\/\*$/, '')),
    megabytes: Number(megabytes),
  }))
  const folders = readdirSync(join(consumer, 'node_modules')).filter((name) => !name.startsWith('.'))
  assert.deepEqual(rows.flatMap(({ names }) => names).toSorted(), folders.toSorted())
  const sizeOf = (name: string) => sizeOfFolder(join(consumer, 'node_modules', name)) / 1e6
  for (const { names, megabytes } of rows) {
    const size = names.map(sizeOf).reduce((sum, one) => sum + one, 0)
    assert.ok(Math.abs(size - megabytes) < Math.max(0.6, size / 10), `${names.join()}: ${size} MB`)
  }
  const total = Number(/takes (\d+) MB/.exec(table)?.[1])
  const size = folders.map(sizeOf).reduce((sum, one) => sum + one, 0)
  assert.ok(Math.abs(size - total) < size / 20, `${size} MB`)
})

function sizeOfFolder(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

test('the installation test has no compiler and no checkout on its PATH', () => {
  for (const name of ['cc', 'gcc', 'clang', 'tcc'])
    assert.notEqual(project.use('sh', ['-c', `command -v ${name}`]).status, 0, name)
  assert.ok(!realpathSync(join(consumer, 'node_modules/lazaret')).startsWith(checkoutRoot))
})

const greetings = {
  shell: { code: 'echo hi', answer: 'hi\n' },
  python: { code: 'print("hi")', answer: 'hi\n' },
  typescript: { code: 'const greeting: string = "hi"; console.log(greeting)', answer: 'hi\n' },
}

for (const [language, { code, answer }] of Object.entries(greetings)) {
  test(`installed elsewhere, it runs ${language}`, () => {
    const { status, stdout, stderr } = project.use('lazaret', ['run', '-l', language, '-e', code])
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: answer, stderr: '' })
  })
}

test('installed elsewhere, doctor finds the launcher of the package', () => {
  const { status, stdout } = project.use('lazaret', ['doctor', '--json'])
  const report = JSON.parse(stdout) as ProbeReport
  assert.equal(status, 0)
  assert.equal(report.launcher.state, 'ok')
  assert.equal(
    report.launcher.path,
    join(realpathSync(consumer), `node_modules/lazaret/native/bin/cell-linux-${process.arch}`),
  )
})

test('installed elsewhere, doctor prints an AppArmor profile with the launcher’s real path', () => {
  const { status, stdout, stderr } = project.use('lazaret', ['doctor', '--apparmor'])
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  const path = join(realpathSync(consumer), `node_modules/lazaret/native/bin/cell-linux-${process.arch}`)
  assert.ok(stdout.includes(`\nprofile lazaret-cell "${path}" flags=(unconfined) {\n  userns,\n`), stdout)
  assert.ok(!stdout.includes('/path/to/'), stdout)
})

test('installed elsewhere, it can be imported', () => {
  const value = project.ask(`import { createLazaret } from 'lazaret'
await using lazaret = createLazaret()
console.log((await lazaret.run({ language: 'python', code: 'input_data * 2', input: 21 })).value)`)
  assert.equal(value, 42)
})

test('installed without isolated-vm, isolates are refused with the command that installs it', () => {
  const { peerDependencies } = JSON.parse(read('package.json')) as {
    readonly peerDependencies: Readonly<Record<string, string>>
  }
  const major = /\d+/.exec(peerDependencies['isolated-vm'] ?? '')?.[0]
  const ends = project.ask(`import { createLazaret } from 'lazaret'
import { CodeExecutionService } from 'lazaret/code-execution'
await using lazaret = createLazaret()
await using service = new CodeExecutionService()
const run = lazaret.run({ language: 'javascript', runtime: 'isolate', code: '1' })
const ofRun = await run.catch(({ code, hint }) => code + ': ' + hint)
const ofService = await service.execute({ code: 'output = 1', language: 'javascript' })
console.log(JSON.stringify([ofRun, ofService.error]))`) as readonly string[]
  assert.equal(ends.length, 2)
  assert.match(ends[0] ?? '', /^RUNTIME_UNAVAILABLE: /)
  for (const text of ends) assert.ok(text.includes(`npm install --ignore-scripts isolated-vm@${major}`), text)
})

test('an uncaught error is printed without pages of source', () => {
  const program = `import { createLazaret } from 'lazaret'; createLazaret({ nonsense: 1 })`
  const { status, stderr } = project.use('node', ['--input-type=module', '-e', program])
  assert.equal(status, 1)
  assert.match(stderr, /nonsense/)
  assert.ok(stderr.length < 6000, `${stderr.length} characters`)
})
