/**
 * Skips that a machine without an optional package has, which count against no bound. A test that only believes that a
 * package is missing is not excused: the runner looks for itself, and not in the way in which the tests do.
 */
import { spawnSync } from 'node:child_process'

/** Programs by name. Compilers, interpreters and Bun are not optional: too much would go without them. */
const programs = [
  'bwrap',
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

interface OptionalPackage {
  readonly reason: RegExp
  readonly isHere: () => boolean
}

const packages: readonly OptionalPackage[] = [
  ...programs.map((name) => ({
    reason: new RegExp(`^${name}\\b.* is not installed|^not installed:.*\\b${name}\\b`),
    isHere: () => answers('sh', ['-c', `command -v ${name}`]),
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
  { reason: /\bthe tests of CPython\b/, isHere: () => canImport('test.test_json') },
]

const found = new Map<OptionalPackage, boolean>()

/** Whether a test was skipped because of a package that is really not here. */
export function isExcused(reason: string): boolean {
  return packages.some((one) => one.reason.test(reason) && !isHere(one))
}

function isHere(one: OptionalPackage): boolean {
  const known = found.get(one) ?? one.isHere()
  found.set(one, known)
  return known
}

function canImport(module: string): boolean {
  // That of Debian's packages. Others on PATH may be for their owner alone.
  const python = process.env['LAZARET_TEST_PYTHON'] ?? '/usr/bin/python3'
  return answers(python, ['-I', '-c', `import ${module}`])
}

function answers(program: string, words: readonly string[]): boolean {
  return spawnSync(program, words, { cwd: '/', stdio: 'ignore' }).status === 0
}
