/** The result of a program, and of many concurrent ones. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import { endSnippetThreads, runSnippet, warmUpSnippets } from '../../../src/adapters/snippet-tool/index.ts'

after(endSnippetThreads)

const run = promisify(execFile)
const library = new URL('../../../src/adapters/snippet-tool/index.ts', import.meta.url).href
/** Node without WebAssembly cannot read TypeScript. */
const builtLibrary = new URL('../../../dist/adapters/snippet-tool/index.js', import.meta.url).href
const endless = 'for (;;);'
const calm = { wall_ms: 60_000 }

describe('the two bindings', () => {
  test('an input comes back as it was', async () => {
    for (const input of [
      'hello',
      '',
      'a\0b',
      '\uFEFFx',
      '\r\n\u2028',
      'é€😀',
      '\uD83D',
      '\uDE00\uD83D',
      '"\\',
    ])
      assert.deepEqual(await runSnippet({ source: 'emit(JSON.stringify(read_input()))', input }), {
        output: JSON.stringify(input),
      })
  })

  test('text is returned unchanged, whatever it begins with', async () => {
    for (const text of ['\uFEFF', '\uFEFFx', '\uFEFF\uFEFF', '<null>', '!', '!!', 'a\0b', '\0', '\uFEFFx€'])
      assert.deepEqual(await runSnippet({ source: `emit(${JSON.stringify(text)})` }), { output: text })
  })

  test('the first argument is used, and converted to a string as in JavaScript', async () => {
    const source = `for (const value of [null, undefined, true, -0, 1e21, 2n, [1, [2]], {}, x => x]) emit(value)
      emit('a', 'b'); emit({ toString: () => 't', valueOf: () => 'v' })
      emit({ [Symbol.toPrimitive]: (hint) => hint }); emit(emit('') + ''); emit(...[])`
    assert.deepEqual(await runSnippet({ source }), {
      output: 'nullundefinedtrue01e+2121,2[object Object]x => xatstringundefined',
    })
  })

  test('a symbol does not become a string', async () => {
    assert.deepEqual(
      await runSnippet({ source: 'try { emit(Symbol("x")) } catch (e) { emit(e instanceof TypeError) }' }),
      {
        output: 'true',
      },
    )
  })

  test('without an argument nothing is emitted', async () => {
    assert.deepEqual(await runSnippet({ source: 'emit()' }), { output: '' })
  })

  test('an input can be read as often as a program likes', async () => {
    const source = 'let sum = 0; for (let i = 0; i < 200; i++) sum += read_input().length; emit(sum)'
    assert.deepEqual(await runSnippet({ source, input: 'x'.repeat(5e6), limits: calm }), {
      output: '1000000000',
    })
  })

  test('a text that needs most of the memory can be emitted', async () => {
    const source = 'emit("€".repeat(5e6))'
    const { output, error } = await runSnippet({ source, limits: { ...calm, output_kb: 16_384 } })
    assert.deepEqual([output?.length, error], [5e6, undefined])
  })

  test('a program that replaces all globals does not affect them', async () => {
    const source = `const { ownKeys } = Reflect, refuse = () => { throw new Error('replaced') }
      const holders = [String.prototype, Array.prototype, Reflect, Object, Function.prototype, Object.prototype]
      for (let i = 0; i < holders.length; i++)
        for (let keys = ownKeys(holders[i]), k = 0; k < keys.length; k++)
          try { holders[i][keys[k]] = refuse } catch {}
      emit(1); emit('a'); emit(read_input())`
    assert.deepEqual(await runSnippet({ source, input: 'i' }), { output: '1ai' })
  })
})

describe('a program that fails', () => {
  const failures = {
    'throw new Error("x")': 'Error: x (<code>:1:11)',
    '\n\nnull.x': "TypeError: cannot read property 'x' of null (<code>:3:1)",
    'let x = 1 +* 2': "SyntaxError: unexpected token in expression: '*' (<code>:1:12)",
    'throw "text"': 'Uncaught text',
    'throw null': 'Uncaught null',
    'throw undefined': 'Uncaught undefined',
    'throw 1n': 'Uncaught 1',
    'throw Symbol("x")': 'Uncaught (a value that cannot be converted to text)',
    'throw { toString() { throw 1 } }': 'Uncaught (a value that cannot be converted to text)',
    '(function f() { f() })()': 'RangeError: Maximum call stack size exceeded (<code>:1:16)',
  }
  for (const [source, message] of Object.entries(failures))
    test(`${JSON.stringify(source)} is an EVAL_ERROR with the engine's text`, async () => {
      assert.deepEqual(await runSnippet({ source }), { error: { code: 'EVAL_ERROR', message } })
    })

  test('its earlier output is not returned', async () => {
    assert.deepEqual(Object.keys(await runSnippet({ source: 'emit(1); throw 2' })), ['error'])
    assert.deepEqual(
      Object.keys(await runSnippet({ source: `emit(1); ${endless}`, limits: { wall_ms: 50 } })),
      ['error'],
    )
  })

  test('its text is bounded', async () => {
    const { error } = await runSnippet({
      source: 'throw Object.assign(new Error("m".repeat(1e7)), { name: "n".repeat(1e6) })',
      limits: calm,
    })
    assert.equal(error?.code, 'EVAL_ERROR')
    assert.ok(error.message.length < 17_000)
  })
})

describe('a caller that aborts', () => {
  test('an aborted signal ends a program, and the reason comes back', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const ended = runSnippet({ source: endless, limits: calm }, { signal: controller.signal })
    // By then the program has a thread, and this request comes after it.
    await warmUpSnippets()
    controller.abort(reason)
    await assert.rejects(ended, reason)
    assert.deepEqual(await runSnippet({ source: 'emit(1)' }), { output: '1' })
  })

  test('a signal that is aborted before runs nothing', async () => {
    await assert.rejects(
      runSnippet({ source: endless, limits: calm }, { signal: AbortSignal.abort('why') }),
      (thrown) => thrown === 'why',
    )
  })

  test('a signal that is aborted after the end changes nothing', async () => {
    const controller = new AbortController()
    assert.deepEqual(await runSnippet({ source: 'emit(1)' }, { signal: controller.signal }), { output: '1' })
    controller.abort()
    assert.deepEqual(await runSnippet({ source: 'emit(2)' }), { output: '2' })
  })

  test('two hundred with one signal all end with it, and the threads serve others', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const all = Array.from({ length: 200 }, () => runSnippet({ source: endless, limits: calm }, { signal }))
    controller.abort(new Error('all'))
    for (const { status } of await Promise.allSettled(all)) assert.equal(status, 'rejected')
    assert.deepEqual(await runSnippet({ source: 'emit(1)' }), { output: '1' })
  })
})

describe('many at once', () => {
  test('two hundred different snippets get the right answers', async () => {
    const wanted = Array.from({ length: 200 }, (_, index) => expected(index))
    const answers = await Promise.all(wanted.map(({ request }) => runSnippet(request)))
    assert.deepEqual(
      answers,
      wanted.map(({ answer }) => answer),
    )
  })

  function expected(index: number) {
    const input = `input ${index}`
    const limits = { wall_ms: 30_000, output_kb: 1 }
    switch (index % 20) {
      case 3:
        return {
          request: { source: 'throw new Error(read_input())', input, limits },
          answer: { error: { code: 'EVAL_ERROR', message: `Error: ${input} (<code>:1:16)` } },
        }
      case 7:
        return {
          request: { source: endless, limits: { wall_ms: 20 } },
          answer: { error: { code: 'TIMEOUT', message: 'execution exceeded 20 ms' } },
        }
      case 11:
        return {
          request: { source: 'emit(read_input().repeat(1000))', input, limits },
          answer: {
            output: input.repeat(1000).slice(0, 1024),
            error: { code: 'OUTPUT_LIMIT', message: 'output exceeded 1 KB' },
          },
        }
      default:
        return {
          request: { source: 'globalThis.x = (globalThis.x ?? "") + read_input(); emit(x)', input, limits },
          answer: { output: input },
        }
    }
  }

  test('one too many is refused with the reason, and queued ones get their answers', async () => {
    const all = Array.from({ length: 1100 }, (_, index) =>
      runSnippet({ source: `emit(${index})`, limits: calm }),
    )
    const ends = await Promise.allSettled(all)
    const refused = ends.filter((end) => end.status === 'rejected')
    assert.ok(refused.length > 0 && refused.length <= 100, `${refused.length} refused`)
    for (const { reason } of refused)
      assert.ok(reason instanceof LazaretError && reason.code === 'QUEUE_FULL')
    for (const [index, end] of ends.entries())
      if (end.status === 'fulfilled') assert.deepEqual(end.value, { output: String(index) })
  })
})

describe('threads', () => {
  test('can be ended, and the next snippet starts new ones', async () => {
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(await runSnippet({ source: 'emit(1)' }), { output: '1' })
      await endSnippetThreads()
      await endSnippetThreads()
    }
  })

  test('snippets that still run when the threads are ended are rejected', async () => {
    const all = Array.from({ length: 20 }, () => runSnippet({ source: endless, limits: calm }))
    const ends = Promise.allSettled(all)
    await warmUpOrEnd()
    for (const end of await ends)
      assert.ok(
        end.status === 'rejected' && end.reason instanceof LazaretError && end.reason.code === 'DISPOSED',
      )
    assert.deepEqual(await runSnippet({ source: 'emit(1)' }), { output: '1' })
  })

  /** Ends the threads at any moment of their start. */
  const warmUpOrEnd = () => endSnippetThreads()

  test('do not keep a process alive that only ran a snippet', async () => {
    const program = `import { runSnippet } from '${library}'
      console.log(JSON.stringify(await runSnippet({ source: 'emit(read_input())', input: 'x' })))`
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 30_000,
    })
    assert.deepEqual([stdout, stderr], ['{"output":"x"}\n', ''])
  })

  test('do not keep a process alive whose snippet had to be ended', async () => {
    const program = `import { runSnippet } from '${library}'
      console.log(JSON.stringify(await runSnippet({ source: 'for (;;);', limits: { wall_ms: 10 } })))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 30_000,
    })
    assert.equal(stdout, '{"error":{"code":"TIMEOUT","message":"execution exceeded 10 ms"}}\n')
  })

  test('a process may end while it ends them', async () => {
    const program = `import { endSnippetThreads, runSnippet } from '${library}'
      await runSnippet({ source: 'emit(1)' })
      await endSnippetThreads()
      console.log('ended')`
    // The thread is about to be ready again, or is ending.
    const children = Array.from({ length: 8 }, () =>
      run(process.execPath, ['--input-type=module', '-e', program], { timeout: 30_000 }),
    )
    for (const { stdout } of await Promise.all(children)) assert.equal(stdout, 'ended\n')
  })

  test('nothing starts without a request', async () => {
    const program = `import { readdirSync } from 'node:fs'
      const before = readdirSync('/proc/self/task').length
      await import('${library}')
      console.log(readdirSync('/proc/self/task').length - before)`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 30_000,
    })
    assert.equal(stdout, '0\n')
  })

  test('without WebAssembly every caller gets an error, and none waits for ever', async () => {
    const program = `import { runSnippet } from '${builtLibrary}'
      const all = Array.from({ length: 20 }, () => runSnippet({ source: 'emit(1)' }))
      const ends = await Promise.allSettled(all)
      console.log(ends.map(({ reason }) => reason?.code).join())`
    const { stdout } = await run(process.execPath, ['--jitless', '--input-type=module', '-e', program], {
      timeout: 30_000,
    })
    assert.equal(stdout, `${Array(20).fill('WORKER_LOST').join()}\n`)
  })

  test('after a failure, loading the engine is tried again', async () => {
    const program = `import { runSnippet } from '${library}'
      const { compile } = WebAssembly
      WebAssembly.compile = () => Promise.reject(new Error('not now'))
      await runSnippet({ source: 'emit(1)' }).catch(({ code }) => console.log(code))
      WebAssembly.compile = compile
      console.log((await runSnippet({ source: 'emit(1)' })).output)`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 30_000,
    })
    assert.equal(stdout, 'WORKER_LOST\n1\n')
  })
})
