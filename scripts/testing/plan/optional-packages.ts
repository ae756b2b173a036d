/**
 * Skips that a missing optional package excuses. They do not count against a pass's bound. The runner checks for the package
 * itself, in another way than the tests do, so a test that wrongly believes it missing is not excused.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Programs by name. Compilers, interpreters and Bun are not optional: without them too many tests would be skipped. */
const programs = [
  'bwrap',
  'cargo',
  'chromium',
  'clang',
  'dash',
  'less',
  'psql',
  'redis-server',
  'script',
  'strace',
  'top',
]

/** Where packages install programs. Others on this user's PATH may be only for their owner, whose home is closed. */
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

interface OptionalPackage {
  readonly reason: RegExp
  readonly isHere: () => boolean
}

const packages: readonly OptionalPackage[] = [
  ...programs.map((name) => ({
    reason: new RegExp(`^${name}\\b.* is not installed|^not installed:.*\\b${name}\\b`),
    isHere: () => answers('sh', ['-c', `PATH=${systemPath}; command -v ${name}`]),
  })),
  ...['matplotlib', 'pandas', 'plotly', 'altair', 'polars', 'jupyter_server'].map((name) => ({
    reason: new RegExp(`\\b${name}\\b`),
    isHere: () => canImport(name),
  })),
  ...['pip', 'requests'].map((name) => ({
    reason: new RegExp(`^${name} is not installed`),
    isHere: () => canImport(name),
  })),
  { reason: /^pip for the Python/, isHere: () => canImport('pip') },
  { reason: /\bIPython\b/, isHere: () => canImport('IPython') },
  {
    reason: /^no registry can be reached$/,
    isHere: () => answers('npm', ['view', 'picomatch', 'version', '--fetch-retries=0']),
  },
  ...Object.entries({ x64: 'cc', arm64: 'aarch64-linux-gnu-gcc' }).map(([architecture, compiler]) => ({
    reason: new RegExp(`^the compiler for ${architecture} is not the one of the prebuilt launcher$`),
    isHere: () => isCompilerOfPrebuilt(architecture, compiler),
  })),
  { reason: /\bthe tests of CPython\b/, isHere: () => canImport('test.test_json') },
]

const found = new Map<OptionalPackage, boolean>()

/** Whether a test was skipped because of a package that is really missing. */
export function isExcused(reason: string): boolean {
  return packages.some((one) => one.reason.test(reason) && !isHere(one))
}

function isHere(one: OptionalPackage): boolean {
  const known = found.get(one) ?? one.isHere()
  found.set(one, known)
  return known
}

function isCompilerOfPrebuilt(architecture: string, compiler: string): boolean {
  const manifest = join(import.meta.dirname, `../../../native/prebuilt/linux-${architecture}.json`)
  if (!existsSync(manifest)) return false
  const { stdout } = spawnSync(compiler, ['--version'], { encoding: 'utf8' })
  const kept = JSON.parse(readFileSync(manifest, 'utf8')) as { compiler: string }
  return stdout?.startsWith(`${kept.compiler}\n`) ?? false
}

function canImport(module: string): boolean {
  // The Python of the system's packages.
  const python = process.env['LAZARET_TEST_PYTHON'] ?? '/usr/bin/python3'
  return answers(python, ['-I', '-c', `import ${module}`])
}

function answers(program: string, words: readonly string[]): boolean {
  return spawnSync(program, words, { cwd: '/', stdio: 'ignore' }).status === 0
}
