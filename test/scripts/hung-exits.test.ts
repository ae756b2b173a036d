/** A test process that hangs at its exit is ended, and the runner goes on with the others. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { endHungExits, exitsVariable } from '../../scripts/testing/hung-exits.ts'

const loadedFirst = join(import.meta.dirname, '../../scripts/testing/test-process.ts')
const waitForEver = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'

test('a process that hangs at its exit is ended, and later ones run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hung-'))
  const exits = join(folder, 'exits')
  mkdirSync(exits)
  const programs = {
    'a.test.ts': `test('hangs', () => void process.on('exit', () => ${waitForEver}))`,
    'b.test.ts': `test('is later', () => {})`,
  }
  const files = Object.entries(programs).map(([name, code]) => {
    writeFileSync(join(folder, name), `import { test } from 'node:test'\n${code}\n`)
    return join(folder, name)
  })
  const stopWatch = endHungExits(exits, { afterMs: 500, everyMs: 100 })
  try {
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const runner = spawn(
      process.execPath,
      ['--test', '--test-concurrency=1', `--import=${loadedFirst}`, '--test-reporter=tap', ...files],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...environment, ...exitsVariable(exits) } },
    )
    const [stdout, [status]] = await Promise.all([
      text(runner.stdout),
      once(runner, 'exit') as Promise<[number]>,
    ])
    assert.equal(status, 1)
    assert.match(stdout, /ok \d+ - hangs/)
    assert.match(stdout, /signal: 'SIGKILL'/)
    assert.match(stdout, /ok \d+ - is later/)
    for (const name of readdirSync(exits)) assert.ok(!Number.isNaN(Number(name)), name)
  } finally {
    stopWatch()
    rmSync(folder, { recursive: true })
  }
})
