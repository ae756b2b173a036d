/** A client over standard input that asks for much, reads nothing or writes nonsense: the process holds its share, and goes on. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test } from 'node:test'

import { requestsPerClientMax } from '../../../src/adapters/http/open-requests.ts'
import { eventually } from '../../support/eventually.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { spawnCli } from '../cli/spawn-cli.ts'

const MiB = 1024 * 1024
const skip = await whyNoSandboxes()
/** A client alone gets half: one file of 1 MiB as base64, while others are read, as JSON and as bytes. */
const heldBytesMax = 32 * MiB
/** The share, garbage, and buffers of the kernel's and of Node. */
const growthBytesMax = 128 * MiB

interface Answer {
  readonly id?: string | number | null
  readonly result?: { readonly structuredContent?: { readonly sandbox_id?: string } }
  readonly error?: { readonly code: number; readonly message: string }
}

/** A real process, whose answers are read only while the test says so. */
function startServer() {
  const child = spawnCli(['mcp', '--sandboxes', '1', '--bound', `heldBytesMax=${heldBytesMax}`])
  // Nobody reads the warnings.
  child.stderr.pause()
  child.stdin.on('error', () => undefined)
  const answers: Answer[] = []
  const lines = createInterface(child.stdout).on('line', (line) => {
    answers.push(JSON.parse(line.replace(/"blob":"[^"]*"/, '"blob":""')))
  })
  let taken = 0
  const send = (...messages: readonly object[]): void => {
    for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  /** The next answers. */
  const take = async (count: number): Promise<Answer[]> => {
    lines.resume()
    await eventually(
      () =>
        answers.length >= taken + count
          ? undefined
          : `${answers.length - taken} of ${count} answers; ${child.exitCode}`,
      60_000,
    )
    return answers.slice(taken, (taken += count))
  }
  return {
    child,
    lines,
    send,
    take,
    async [Symbol.asyncDispose]() {
      child.stderr.resume()
      lines.resume()
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'close')
    },
  }
}

const initialize = {
  id: 'start',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}

const callOf = (id: string, name: string, args: object) => ({
  ...{ id, method: 'tools/call', params: { name, arguments: args } },
})

const peakBytes = ({ pid }: ChildProcess): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** Resolves when the process has done what it can do before somebody reads. */
async function rested({ pid }: ChildProcess): Promise<void> {
  const ticks = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15).join(' ')
  let last = ''
  let same = 0
  await eventually(() => {
    const now = ticks()
    same = now === last ? same + 1 : 0
    last = now
    return same > 30 ? undefined : 'it works'
  }, 60_000)
}

test(
  'over standard input, a client holds no more than its share, whatever it sends and does not read',
  { skip },
  async () => {
    await using server = startServer()
    const { child, lines, send, take } = server
    send(initialize)
    await take(1)
    send({ method: 'notifications/initialized' }, callOf('create', 'create_sandbox', {}))
    const sandbox = (await take(1))[0]?.result?.structuredContent?.sandbox_id
    assert.ok(sandbox !== undefined)
    const args = { sandbox_id: sandbox, command: 'head -c 1M /dev/zero > zeros' }
    const read = { method: 'resources/read', params: { uri: `lazaret://${sandbox}/workspace/zeros` } }
    send(callOf('write', 'execute_command', args))
    await take(1)
    send({ id: 'first', ...read })
    assert.ok((await take(1))[0]?.result !== undefined)
    const before = peakBytes(child)

    lines.pause()
    const reads = Array.from({ length: 48 }, (_, id) => ({ id, ...read }))
    send(...reads)
    await rested(child)
    const files = await take(reads.length)
    assert.ok(files.some(({ result }) => result !== undefined))
    assert.ok(files.some(({ error }) => error !== undefined))
    assert.deepEqual(
      files.map(({ id }) => Number(id)).toSorted((a, b) => a - b),
      reads.map(({ id }) => id),
    )

    lines.pause()
    const pings = Array.from({ length: 2000 }, (_, id) => ({ id, method: 'ping' }))
    send(...pings)
    await rested(child)
    const pongs = await take(pings.length)
    assert.ok(pongs.filter(({ result }) => result !== undefined).length >= requestsPerClientMax)

    lines.pause()
    send(...Array.from({ length: 100 }, (_, id) => ({ id: `${id} ${'i'.repeat(MiB / 4)}`, method: 'ping' })))
    await rested(child)
    assert.equal((await take(100)).length, 100)

    child.stdin.write(`${JSON.stringify(pings)}\n`)
    assert.match((await take(1))[0]?.error?.message ?? '', /batch/)

    // Garbage has no answers, and its warnings have no reader.
    child.stdin.write('\u0000\n'.repeat(1000))
    child.stdin.write('{}\n'.repeat(1000))
    child.stdin.write(`${'{"id":['.repeat(MiB / 8)}\n`)
    assert.equal((await take(1))[0]?.id, null)

    send({ id: 'polite', method: 'tools/list' })
    const [polite] = await take(1)
    assert.deepEqual([polite?.id, polite?.error], ['polite', undefined])
    const growthBytes = peakBytes(child) - before
    assert.ok(growthBytes < growthBytesMax, `the process grew by ${Math.round(growthBytes / MiB)} MiB`)
  },
)
