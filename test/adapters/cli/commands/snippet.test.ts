/** `lazaret snippet` as a process: JSON in, JSON out. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'

import { eventually } from '../../../support/eventually.ts'
import { listDescendants } from '../../../support/machine/processes.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { mainPath, runCli, spawnCli } from '../spawn-cli.ts'

const runJson = (request: unknown) => runCli(['snippet'], { input: JSON.stringify(request) })

/** The processor time of a process. */
function usedMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // In hundredths of a second.
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

/** The parsed error from the only line on standard error. */
function failure(stderr: string): { readonly code: string; readonly message: string } {
  // Node's warning about the flag with which a test disables WebAssembly.
  const own = stderr.replace(/^Warning: disabling flag [^\n]*\n/, '')
  assert.match(own, /^[^\n]+\n$/)
  const error = JSON.parse(own)
  assert.deepEqual(Object.keys(error), ['code', 'message'])
  return error
}

describe('a request', () => {
  test('is answered on one line of JSON', () => {
    const command = `printf '{"source":"emit(read_input())","input":"hello"}' | "$0" "$1" snippet`
    const { stdout, stderr, status } = spawnSync('sh', ['-c', command, process.execPath, mainPath], {
      encoding: 'utf8',
    })
    assert.deepEqual({ stdout, stderr, status }, { stdout: '{"output":"hello"}\n', stderr: '', status: 0 })
  })

  test('from the original specification is answered as specified', async () => {
    const echo = { source: 'emit(read_input())', input: 'hello', limits: { output_kb: 4 } }
    assert.deepEqual(await runJson(echo), { exitCode: 0, stdout: '{"output":"hello"}\n', stderr: '' })
    const cut = { source: 'emit(read_input())', input: 'a'.repeat(1500), limits: { output_kb: 1 } }
    assert.deepEqual(await runJson(cut), {
      exitCode: 1,
      stdout: `{"output":"${'a'.repeat(1024)}"}\n`,
      stderr: '{"code":"OUTPUT_LIMIT","message":"output exceeded 1 KB"}\n',
    })
    const endless = { source: 'for(;;) {}', input: '', limits: { wall_ms: 100 } }
    assert.deepEqual(await runJson(endless), {
      exitCode: 1,
      stdout: '',
      stderr: '{"code":"TIMEOUT","message":"execution exceeded 100 ms"}\n',
    })
  })

  test('whose program fails or exceeds a limit is distinguished from an invalid one', async () => {
    const thrown = await runJson({ source: 'emit(1)\nthrow new Error("x")' })
    assert.deepEqual([thrown.exitCode, thrown.stdout], [1, ''])
    assert.deepEqual(failure(thrown.stderr), { code: 'EVAL_ERROR', message: 'Error: x (<code>:2:11)' })
    const hungry = await runJson({
      source: 'for (const hold = [];;) hold.push(new Uint8Array(1e6))',
      limits: { wall_ms: 60_000 },
    })
    assert.deepEqual([hungry.exitCode, failure(hungry.stderr).code], [1, 'MEMORY_LIMIT'])
    const wrong = await runJson({ source: '1', limits: { wall_ms: 0 } })
    assert.deepEqual([wrong.exitCode, wrong.stdout, failure(wrong.stderr).code], [2, '', 'INVALID_INPUT'])
    assert.match(failure(wrong.stderr).message, /^limits\.wall_ms: /)
  })

  test('may have an answer of any length', async () => {
    const { exitCode, stdout } = await runJson({
      source: 'emit("é".repeat(8e6))',
      limits: { wall_ms: 60_000, output_kb: 16_384 },
    })
    assert.deepEqual([exitCode, JSON.parse(stdout).output.length], [0, 8e6])
  })
})

describe('an invalid request', () => {
  const inputs = {
    nothing: '',
    'a space': ' ',
    'no JSON': 'emit(1)',
    'half of it': '{"source":"1"',
    'more than one': '{"source":"1"}{"source":"1"}',
    'bytes that are no text': Buffer.from([0xff, 0xfe, 0x00, 0x80]),
    'UTF-8 that is cut': Buffer.concat([
      Buffer.from('{"source":"'),
      Buffer.from([0xe2, 0x82]),
      Buffer.from('"}'),
    ]),
    'UTF-16': Buffer.from('{"source":"1"}', 'utf16le'),
    'a NaN': '{"source":"1","limits":{"wall_ms":NaN}}',
  }
  for (const [what, input] of Object.entries(inputs))
    test(`is refused: ${what}`, async () => {
      const { exitCode, stdout, stderr } = await runBytes(input)
      assert.deepEqual([exitCode, stdout], [2, ''])
      const { code, message } = failure(stderr)
      assert.equal(code, 'INVALID_INPUT')
      assert.match(message, /^Standard input (?:must be|is) .+\.$/)
    })

  test('the reason says what is wrong, and where', async () => {
    const reasons: readonly (readonly [string, RegExp])[] = [
      ['', /is empty/],
      ['{"source":"1"', /position 13/],
      ['\u001b[31m', /must be one JSON object: Unexpected token/],
    ]
    for (const [input, reason] of reasons) {
      const { stderr } = await runBytes(Buffer.from(input))
      assert.match(failure(stderr).message, reason)
    }
  })

  for (const input of ['null', '1', '"emit(1)"', '[]', '[{"source":"1"}]', 'true'])
    test(`is refused: ${input}`, async () => {
      const { exitCode, stdout, stderr } = await runBytes(input)
      assert.deepEqual([exitCode, stdout], [2, ''])
      assert.match(failure(stderr).message, /^The request must be a JSON object/)
    })

  test('is refused before all of it is read: more than 64 MiB', async () => {
    const child = spawnCli(['snippet'])
    const [stderr, closed] = [text(child.stderr), once(child, 'close')]
    child.stdin.on('error', () => undefined)
    Readable.from(Array(66).fill(Buffer.alloc(1024 * 1024, ' '))).pipe(child.stdin)
    assert.deepEqual(await closed, [2, null])
    assert.equal(failure(await stderr).code, 'INVALID_INPUT')
  })

  test('is refused: an input that is closed', () => {
    const { status, stdout, stderr } = spawnSync(
      'sh',
      ['-c', '"$0" "$1" snippet <&-', process.execPath, mainPath],
      {
        encoding: 'utf8',
      },
    )
    assert.deepEqual([status, stdout, failure(stderr).code], [2, '', 'INVALID_INPUT'])
  })

  for (const [args, message] of [
    [['emit(1)'], /^lazaret: too many arguments/],
    [['-e', 'emit(6 * 7)'], /^lazaret: unknown option '-e'/],
  ] as const)
    test(`is refused on the command line, which says where requests and programs go: ${args.join(' ')}`, async () => {
      const { exitCode, stdout, stderr } = await runCli(['snippet', ...args])
      assert.deepEqual([exitCode, stdout], [64, ''])
      assert.match(stderr, message)
      const [, hint = ''] = stderr.split('\n')
      assert.match(hint, /JSON on standard input/)
      const [, line = ''] = /lazaret (run .*)$/.exec(hint) ?? []
      const program = /'(.*)'$/.exec(line)?.[1] ?? ''
      const run = await runCli([...line.replace(/ '.*/, '').split(' '), program])
      assert.deepEqual(run, { exitCode: 0, stdout: '42', stderr: '' })
    })

  async function runBytes(input: string | Buffer) {
    const child = spawnCli(['snippet'])
    child.stdin.end(input)
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    return { exitCode, stdout, stderr }
  }
})

describe('text of a program', () => {
  // Line endings, terminal controls, direction changes, quotes and lone surrogates.
  const hostile =
    '\n\r\v\f\0\u001b[31m\u001b]0;title\u0007\u007f\u0085\u009b31m\u2028\u2029\u202e\u2066\u200f\u061c"\\\ud800'
  // eslint-disable-next-line no-control-regex
  const dangerous = /[\0-\t\v-\x1f\x7f-\x9f\u2028\u2029\u202e\u2066\u200f\u061c]/

  test('is one line of harmless characters in an error', async () => {
    const { exitCode, stderr } = await runJson({ source: 'throw new Error(read_input())', input: hostile })
    assert.equal(exitCode, 1)
    assert.doesNotMatch(stderr, dangerous)
    assert.equal(failure(stderr).message, `Error: ${hostile.toWellFormed()} (<code>:1:16)`)
  })

  test('is one line of harmless characters in the output, and decodes to the same text', async () => {
    const { exitCode, stdout } = await runJson({ source: 'emit(read_input())', input: hostile })
    assert.equal(exitCode, 0)
    assert.doesNotMatch(stdout, dangerous)
    assert.match(stdout, /^[^\n]+\n$/)
    assert.equal(JSON.parse(stdout).output, hostile.toWellFormed())
  })
})

describe('the end of a command', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    test(`${signal} ends it while its program runs`, async () => {
      const child = spawnCli(['snippet'])
      const [stdout, stderr, closed] = [text(child.stdout), text(child.stderr), once(child, 'close')]
      // It prints nothing before its end, but its start alone would not take this much processor time.
      child.stdin.end('{"source":"for(;;);","limits":{"wall_ms":60000}}')
      await eventually(() => (usedMs(child.pid) > 1200 ? undefined : 'the program does not run'), 60_000)
      child.kill(signal)
      assert.deepEqual(await closed, [130, null])
      assert.deepEqual([await stdout, await stderr], ['', 'lazaret: cancelled\n'])
      assert.deepEqual(listDescendants(process.pid), [])
    })

  test('a closed output pipe ends it without a message', async () => {
    const { status, stdout, stderr } = spawnSync(
      'sh',
      ['-c', `printf '{"source":"emit(1)"}' | "$0" "$1" snippet | true`, process.execPath, mainPath],
      { encoding: 'utf8' },
    )
    assert.deepEqual([status, stdout, stderr], [0, '', ''])
  })

  test('is refused if the operator has turned snippets off, in every interface', async () => {
    const folder = await createTemporaryFolder()
    const path = join(folder.path, 'lazaret.config.json')
    const run = (pools: unknown) => {
      writeFileSync(path, JSON.stringify({ pools }), { mode: 0o644 })
      const env = { ...process.env, LAZARET_CONFIG: path }
      return runCli(['snippet'], { input: '{"source":"emit(1)"}', env })
    }
    const { exitCode, stdout, stderr } = await run({ snippet: { max: 0 } })
    assert.deepEqual([exitCode, stdout, failure(stderr).code], [69, '', 'RUNTIME_UNAVAILABLE'])
    assert.equal((await run({ snippet: { max: 1 } })).stdout, '{"output":"1"}\n')
    await folder[Symbol.asyncDispose]()
  })

  test('if no thread can run snippets, the error has the same form', async () => {
    const child = spawn(process.execPath, ['--jitless', mainPath, 'snippet'], { stdio: 'pipe' })
    child.stdin.end('{"source":"emit(1)"}')
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    assert.deepEqual([exitCode, stdout, failure(stderr).code], [70, '', 'WORKER_LOST'])
  })
})
