/** A test process that does not end by itself is ended, and says what kept it; the runner goes on with the others. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const watcher = join(import.meta.dirname, '../../scripts/testing/test-process.ts')

function runTests(programs: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'stuck-'))
  try {
    const files = Object.entries(programs).map(([name, code]) => {
      writeFileSync(join(folder, name), `import { test } from 'node:test'\n${code}\n`)
      return join(folder, name)
    })
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const { status, stdout } = spawnSync(
      process.execPath,
      ['--test', `--import=${watcher}`, '--test-reporter=tap', ...files],
      {
        encoding: 'utf8',
        timeout: 60_000,
        env: { ...environment, LAZARET_TESTS_STUCK_MS: '3000' },
      },
    )
    return { status, stdout }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a process with an open server is ended after its tests, with the names of what it holds', () => {
  const { status, stdout } = runTests({
    'a.test.ts': `import { createServer } from 'node:net'\ntest('opens', () => void createServer().listen(0))`,
    'b.test.ts': `test('is later', () => {})`,
  })
  assert.equal(status, 1)
  assert.match(
    stdout,
    /a\.test\.ts: no test has started or ended for 3 s; no test was running; .*TCPServerWrap/,
  )
  assert.match(stdout, /ok \d+ - opens/)
  assert.match(stdout, /ok \d+ - is later/)
})

test('a hook that waits for ever is ended, too', () => {
  const { status, stdout } = runTests({
    'a.test.ts': `test('passes', (context) => context.after(() => new Promise(() => {})))`,
  })
  assert.equal(status, 1)
  assert.match(stdout, /no test has started or ended for 3 s/)
})

test('tests that take longer together than the limit are left alone', () => {
  const pause = `() => new Promise((resolve) => setTimeout(resolve, 1000))`
  const { status, stdout } = runTests({
    'a.test.ts': `for (const n of [1, 2, 3, 4, 5]) test('waits ' + n, ${pause})`,
  })
  assert.equal(status, 0, stdout)
})
