/**
 * The test suite of a published package, with Node's own test runner: it passes inside a cell as it does outside. The
 * package is `process-warning` (MIT), which contains its tests, uses `node:test` and has no dependencies.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { run } = await useLazaret()
const folder = join(checkoutRoot, 'node_modules/process-warning')
const files = Object.fromEntries(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => [name, readFileSync(join(folder, name))]),
)
const flags = ['--test', '--test-reporter=tap']

/** Runs the suite in the current folder, and returns its exit code and report. */
const inside = `const { spawnSync } = require('node:child_process')
const { status, stdout } = spawnSync(process.execPath, ${JSON.stringify(flags)}, { encoding: 'utf8' })
;[status, stdout]`

test('the suite of a published package gives the same report inside as outside', async () => {
  const outside = runOutside()
  assert.equal(outside.status, 0, outside.stdout)
  const result = await run({ runtime: 'node', language: 'javascript', code: inside, files })
  assert.deepEqual(result.outcome, { kind: 'completed', exitCode: 0 }, result.stderr)
  const [status, report] = result.value as [number, string]
  assert.equal(status, 0, report)
  assert.deepEqual(resultsOf(report), resultsOf(outside.stdout))
  assert.ok(resultsOf(report).length > 15, report)
  assert.match(report, /^# fail 0$/m)
})

test('a suite that fails inside is reported as failed', async () => {
  const broken = {
    ...files,
    'index.js': Buffer.concat([readFileSync(join(folder, 'index.js')), Buffer.from('\nmodule.exports = {}')]),
  }
  const result = await run({ runtime: 'node', language: 'javascript', code: inside, files: broken })
  const [status, report] = result.value as [number, string]
  assert.equal(status, 1)
  assert.match(report, /^not ok /m)
})

test('a shell in the cell finds the same node on its PATH', async () => {
  const { outcome, stdout } = await run({
    runtime: 'node',
    language: 'javascript',
    code: `const { spawnSync } = require('node:child_process')
process.exitCode = spawnSync('sh', ['-c', 'node ${flags.join(' ')} test/index.test.js | grep "^# "'], { stdio: 'inherit' }).status`,
    files,
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stdout)
  assert.match(stdout, /^# fail 0$/m)
})

function runOutside(): { status: number | null; stdout: string } {
  const copy = mkdtempSync(join(tmpdir(), 'lazaret-suite-'))
  try {
    cpSync(folder, copy, { recursive: true })
    // Otherwise the outer test runner takes this child for one of its workers.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    return spawnSync(process.execPath, flags, { cwd: copy, env, encoding: 'utf8' })
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** The tests with their results, and the counts, without times and folders. */
function resultsOf(report: string): string[] {
  const lines = report.split('\n').map((line) => line.trim())
  const results = lines
    .filter((line) => /^(not )?ok \d+/.test(line))
    .map((line) => line.replace(/ \/.*\//, ' '))
  const counts = lines.filter((line) => /^# (tests|suites|pass|fail|cancelled|skipped|todo) \d+$/.test(line))
  return [...results.sort(), ...counts]
}
