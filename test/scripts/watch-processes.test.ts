/** A test process that hangs is described from outside and from inside, and is ended; the runner goes on with the others. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { notesVariable } from '../../scripts/testing/process-notes.ts'
import { patience, watchProcesses } from '../../scripts/testing/watch-processes.ts'

const loadedFirst = join(import.meta.dirname, '../../scripts/testing/test-process.ts')
const waitForEver = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'
const isLater = `test('is later', () => {})`

/** The output of Node's runner, and what the watcher printed. */
async function watchTests(programs: Readonly<Record<string, string>>, limits: Partial<typeof patience>) {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'))
  const notes = join(folder, 'notes')
  mkdirSync(notes)
  const files = Object.entries(programs).map(([name, code]) => {
    writeFileSync(join(folder, name), `import { test } from 'node:test'\n${code}\n`)
    return join(folder, name)
  })
  let said = ''
  const stopWatch = watchProcesses(notes, { ...patience, lookEveryMs: 100, ...limits }, (more) => {
    said += more
  })
  try {
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const runner = spawn(
      process.execPath,
      ['--test', '--test-concurrency=1', `--import=${loadedFirst}`, '--test-reporter=tap', ...files],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...environment, ...notesVariable(notes), LAZARET_TESTS_DESCRIBE_MS: '500' },
      },
    )
    const [stdout, [status]] = await Promise.all([
      text(runner.stdout),
      once(runner, 'exit') as Promise<[number]>,
    ])
    return { stdout, status, said }
  } finally {
    stopWatch()
    rmSync(folder, { recursive: true })
  }
}

test('a process that polls for ever is described by the place that sets its timer, and is ended', async () => {
  const poll = `function pollForEver() { setTimeout(pollForEver, 1) }`
  const { stdout, status, said } = await watchTests(
    { 'a.test.ts': `${poll}\ntest('polls', pollForEver)`, 'b.test.ts': isLater },
    { describeMs: 500, endMs: 6000 },
  )
  assert.equal(status, 1)
  assert.match(
    said,
    /a\.test\.ts \(process \d+\): no test has started or ended for \d+ s\.\n {4}thread \d+ "/,
  )
  assert.match(said, /no test is running; what keeps the process: .*Timeout/)
  assert.match(said, /\d+ timers in 1000 ms from\n.*pollForEver/)
  assert.match(said, /and is ended/)
  assert.match(stdout, /ok \d+ - polls[^]*signal: 'SIGKILL'[^]*ok \d+ - is later/)
})

test('a process whose thread is blocked is described and ended from outside, with its children', async () => {
  const block = `test('blocks', () => void (spawn('sleep', ['60']), ${waitForEver}))`
  const { stdout, said } = await watchTests(
    { 'a.test.ts': `import { spawn } from 'node:child_process'\n${block}`, 'b.test.ts': isLater },
    { describeMs: 500, endMs: 3000 },
  )
  assert.match(said, /child \d+ "sleep", S \(sleeping\), system call \d+, in .* "sleep 60"/)
  assert.match(said, /and is ended/)
  assert.match(stdout, /signal: 'SIGKILL'[^]*ok \d+ - is later/)
})

test('a process that hangs at its exit is ended', async () => {
  const hang = `test('hangs', () => void process.on('exit', () => ${waitForEver}))`
  const { stdout, said } = await watchTests({ 'a.test.ts': hang, 'b.test.ts': isLater }, { exitMs: 500 })
  assert.match(said, /has hung at its exit for \d+ s, and is ended/)
  assert.match(stdout, /ok \d+ - hangs[^]*signal: 'SIGKILL'[^]*ok \d+ - is later/)
})

test('tests that take longer together than the limit are left alone', async () => {
  const pause = `() => new Promise((resolve) => setTimeout(resolve, 1000))`
  const { status, stdout } = await watchTests(
    { 'a.test.ts': `for (const n of [1, 2, 3, 4, 5]) test('waits ' + n, ${pause})` },
    { describeMs: 3000, endMs: 4000 },
  )
  assert.equal(status, 0, stdout)
})
