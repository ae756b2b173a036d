/**
 * The test suites of real projects, inside a sandbox with default limits and outside: the same tests with the same
 * results. This test fetches the npm packages, without running any of their code outside before; those of Python are the
 * machine's. Missing ones are skipped, with the reason.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { Toolchains } from '../src/runtimes/packages/toolchains.ts'
import { createLazaret } from '../test/support/create-lazaret.ts'
import { LeakCheck } from '../test/support/machine/leaks.ts'
import { whyNoSandboxes } from '../test/support/sandboxes-here.ts'

interface Project {
  readonly name: string
  /** The npm packages, the project's own first. */
  readonly packages?: readonly string[]
  /** Required modules of the guests' Python. */
  readonly modules?: readonly string[]
  readonly programs?: readonly string[]
  readonly command: string
  /** The part of its output with the number of tests and their results. */
  readonly counts: RegExp
}

const tap = /^# (tests|pass|fail) .*$/gm
const pytest = /\d+ (passed|failed|skipped|xfailed|xpassed|error)/g
const npmTest = (name: string) => `cd node_modules/${name} && node ../tape/bin/tape 'test/*.js'`
const pythonTest = (module: string) =>
  `cd "$(mktemp -d)" && python3 -m pytest -q -p no:cacheprovider --pyargs ${module}`

const projects: readonly Project[] = [
  { name: 'minimist', packages: ['minimist', 'tape'], command: npmTest('minimist'), counts: tap },
  {
    name: 'qs',
    packages: [
      'qs',
      ...[
        'tape',
        'es-value-fixtures',
        'for-each',
        'has-bigints',
        'has-override-mistake',
        'has-property-descriptors',
      ],
      ...['has-proto', 'has-symbols', 'iconv-lite', 'mock-property', 'object-inspect', 'safer-buffer'],
    ],
    command: npmTest('qs'),
    counts: tap,
  },
  { name: 'traitlets', modules: ['pytest', 'traitlets'], command: pythonTest('traitlets'), counts: pytest },
  {
    name: 'networkx, its shortest paths',
    modules: ['pytest', 'networkx'],
    command: pythonTest('networkx.algorithms.shortest_paths'),
    counts: pytest,
  },
  {
    name: 'numpy, its Fourier transforms',
    modules: ['pytest', 'numpy', 'hypothesis'],
    command: pythonTest('numpy.fft'),
    counts: pytest,
  },
  {
    name: 'PostgreSQL with pgbench',
    programs: ['initdb', 'pg_ctl', 'pgbench'],
    command: `initdb -D ~/data -A trust >/dev/null && pg_ctl -D ~/data -o "-k $HOME -h ''" -w start >/dev/null && createdb -h ~ bench && pgbench -h ~ -i bench >/dev/null 2>&1 && pgbench -h ~ -c 4 -t 100 bench; pg_ctl -D ~/data stop >/dev/null`,
    counts: /^number of transactions actually processed: .*$/gm,
  },
]

const run = promisify(execFile)
const patienceMs = 240_000
const folder = mkdtempSync(join(tmpdir(), 'lazaret-projects-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const leaks = new LeakCheck()
await leaks.takeBaseline()

const python = new Toolchains().python()?.path

/** Why a project cannot be tested here, or false. */
function whyNot({ modules = [], programs = [] }: Project): string | false {
  const absent = programs.filter((name) => spawnSync('which', [name]).status !== 0)
  if (absent.length > 0) return `not installed: ${absent.join(', ')}`
  if (modules.length === 0) return false
  if (python === undefined) return 'there is no Python'
  const looked = spawnSync(python, ['-c', `import ${modules.join(', ')}`], { encoding: 'utf8' })
  return looked.status === 0 ? false : `not installed: ${looked.stderr.trim().split('\n').at(-1)}`
}

/** Installs them into a folder without running their scripts. Returns why not if npm or the registry is unavailable. */
async function fetchPackages({
  name,
  packages = [],
}: Project): Promise<{ folder: string } | { reason: string }> {
  const own = mkdtempSync(join(folder, 'npm-'))
  writeFileSync(join(own, 'package.json'), JSON.stringify({ name: 'tried', private: true }))
  const [first = name] = packages
  const options = { cwd: own, timeout: 120_000 }
  try {
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], options)
  } catch (error) {
    return { reason: `npm could not fetch it: ${(error as Error).message.split('\n').at(1) ?? ''}` }
  }
  return readdirSync(join(own, 'node_modules', first)).includes('test')
    ? { folder: own }
    : { reason: `${first} brings no tests` }
}

const countsIn = (text: string, counts: RegExp): string[] =>
  [...text.matchAll(counts)].map(([whole]) => whole)

describe('The suite of', { skip: await whyNoSandboxes() }, () => {
  for (const project of projects)
    test(project.name, { skip: whyNot(project), timeout: 2 * patienceMs + 120_000 }, async (context) => {
      const isFetched = project.packages !== undefined
      const fetched = isFetched
        ? await fetchPackages(project)
        : { folder: mkdtempSync(join(folder, 'empty-')) }
      if ('reason' in fetched) return context.skip(fetched.reason)
      const source = fetched.folder
      await using lazaret = createLazaret({ onEvent: () => undefined })
      await using sandbox = await lazaret.sandbox()
      if (isFetched) await sandbox.uploadFolder(source)
      const inside = await sandbox.exec(project.command, { timeout: patienceMs })
      const found = countsIn(inside.stdout, project.counts)
      assert.ok(found.length > 0, `${inside.stdout.slice(-2000)}\n${inside.stderr.slice(-2000)}`)
      assert.deepEqual(inside.touched, [])
      // Servers do not start as root, so their output is compared instead.
      if (project.programs !== undefined) return assert.match(found.join(), /400\/400/)
      const { stdout: path } = await sandbox.exec('echo "$PATH"')
      const env = { PATH: `${process.env['PATH']}:${path.trim()}`, HOME: source, LANG: 'C.UTF-8', TZ: 'UTC' }
      const outside = spawnSync('bash', ['-c', project.command], {
        cwd: source,
        env,
        encoding: 'utf8',
        timeout: patienceMs,
      })
      assert.deepEqual(found, countsIn(outside.stdout, project.counts), outside.stderr.slice(-2000))
      context.diagnostic(found.join(', '))
    })

  test('no process or file of them is left', () => leaks.checkDisposed())
})
