/**
 * A minute of two hundred clients of `lazaret serve`, with mixed work; and what HTTP adds to a run. Figures that depend on the
 * machine are reported, with generous bounds.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test } from 'node:test'

import { connectLazaret } from '../../src/adapters/client/index.ts'
import type { RemoteLazaret } from '../../src/adapters/client/index.ts'
import { mainPath } from '../../test/adapters/cli/spawn-cli.ts'
import { adaToken, serveHere } from '../../test/adapters/http/serve-here.ts'

const clientsCount = 200
const loadMs = 60_000
/** By how much the server may grow from the middle of the minute to its end. */
const growthBytesMax = 64 * 1024 * 1024

async function serve() {
  const args = [
    'serve',
    '--port',
    '0',
    '--json',
    '--minimum',
    'restricted',
    '--bound',
    'runningPerTokenMax=1000',
  ]
  const child = spawn(process.execPath, [mainPath, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { url, token } = JSON.parse(line) as { readonly url: string; readonly token: string }
  return {
    pid: child.pid as number,
    url,
    token,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      assert.deepEqual(await once(child, 'close'), [0, null])
    },
  }
}

function residentBytes(pid: number): number {
  const [, kib = ''] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

/** One piece of work, and whether its result was correct. */
const works: readonly ((lazaret: RemoteLazaret, number: number) => Promise<boolean>)[] = [
  async (lazaret, number) =>
    (await lazaret.run({ language: 'shell', code: `echo ${number}` })).stdout === `${number}\n`,
  async (lazaret, number) =>
    (await lazaret.run({ language: 'python', code: 'input_data * 2', input: number })).value === number * 2,
  async (lazaret, number) =>
    (await lazaret.run({ language: 'javascript', runtime: 'snippet', code: `emit('${number}')` })).stdout ===
    `${number}`,
  async (lazaret, number) => {
    const pieces: string[] = []
    const code = `echo ${number}; exit 7`
    const { outcome } = await lazaret.run({
      language: 'shell',
      code,
      onOutput: ({ text }) => void pieces.push(text),
    })
    return pieces.join('') === `${number}\n` && outcome.kind === 'completed' && outcome.exitCode === 7
  },
]

test('two hundred clients get their own answers for a minute, and the server does not grow', async (context) => {
  await using server = await serve()
  const lazaret = connectLazaret({ ...server })
  const until = performance.now() + loadMs
  const counts = { right: 0, wrong: 0, refused: 0 }
  const latencies: number[] = []
  let middleBytes = 0
  const measured = setTimeout(() => (middleBytes = residentBytes(server.pid)), loadMs / 2)
  await Promise.all(
    Array.from({ length: clientsCount }, async (_, client) => {
      for (let at = client; performance.now() < until; at += clientsCount) {
        const work = works[at % works.length]
        const startedMs = performance.now()
        try {
          const isRight = await work?.(lazaret, at)
          counts[isRight === true ? 'right' : 'wrong']++
        } catch (error) {
          if ((error as { code?: string }).code !== 'QUEUE_FULL') throw error
          counts.refused++
        }
        latencies.push(performance.now() - startedMs)
      }
    }),
  )
  clearTimeout(measured)
  const endBytes = residentBytes(server.pid)
  const [p50, p99] = [0.5, 0.99].map(
    (share) => latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * share)],
  )
  context.diagnostic(JSON.stringify({ ...counts, p50, p99, middleBytes, endBytes }))
  assert.equal(counts.wrong, 0)
  assert.ok(counts.right > clientsCount)
  assert.ok(endBytes - middleBytes < growthBytesMax, `${middleBytes} to ${endBytes} bytes`)
})

test('the overhead of HTTP is reported', async (context) => {
  await using here = await serveHere()
  const remote = connectLazaret({ url: here.url, token: adaToken })
  const request = { language: 'shell', code: 'echo hi' } as const
  const times: Record<'local' | 'remote', number[]> = { local: [], remote: [] }
  await here.engine.lazaret.warmUp({ language: 'shell' })
  for (let round = 0; round < 200; round++)
    for (const [name, lazaret] of [
      ['local', here.engine.lazaret],
      ['remote', remote],
    ] as const) {
      const startedMs = performance.now()
      await lazaret.run(request)
      times[name].push(performance.now() - startedMs)
    }
  const medianOf = (name: 'local' | 'remote'): number => times[name].toSorted((a, b) => a - b)[100] ?? 0
  const [local, overHttp] = [medianOf('local'), medianOf('remote')]
  context.diagnostic(`median ${local.toFixed(2)} ms here, ${overHttp.toFixed(2)} ms over HTTP`)
})
