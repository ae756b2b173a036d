import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const program = new URL('../support/hosts/without-threads.ts', import.meta.url).pathname
/** The rest of the process needs memory, too, so its young generation must not grow while there is none. */
const start = (how: 'cold' | 'warm') =>
  run(process.execPath, ['--max-semi-space-size=1', program, how], { timeout: 60_000 })

test('a thread that cannot be started is an error with the reason, and nothing waits for it', async () => {
  const { stdout } = await start('cold')
  assert.deepEqual(JSON.parse(stdout), ['WORKER_LOST', 'WORKER_LOST', '2', '2', '2'])
})

test('a program gets its answer even if its thread cannot be replaced', async () => {
  const { stdout } = await start('warm')
  const [first, , ...others] = JSON.parse(stdout)
  assert.deepEqual([first, ...others], ['TIMEOUT', '2', '2', '2'], stdout)
})

test('an error says that the working folder has been removed', async () => {
  const gone = new URL('../support/hosts/without-working-folder.ts', import.meta.url).pathname
  const { stdout } = await run(process.execPath, [gone], { timeout: 60_000 })
  assert.match(stdout, /^WORKER_LOST .*ENOENT.*uv_cwd/)
})

test('an error says that the process has no WebAssembly', async () => {
  const tool = new URL('../../dist/adapters/snippet-tool/index.js', import.meta.url).href
  const code = `import(${JSON.stringify(tool)}).then(({ runSnippet }) => runSnippet({ source: 'emit(1)' })).catch((error) => console.log(error.code, error.message, error.hint))`
  const { stdout } = await run(process.execPath, ['--jitless', '-e', code], { timeout: 60_000 })
  assert.match(stdout, /^RUNTIME_UNAVAILABLE .*Snippets need WebAssembly.*--jitless/)
})
