/** Streamed output: in order, complete, and no faster than the caller takes it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'

import type { OutputChunk, RunRequest } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { isAnyGuestAlive } from '../support/machine/processes.ts'
import { keepHeldFlat } from '../support/machine/held-memory.ts'
import { ampleMs, runPatiently } from '../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const MiB = 1024 * 1024
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Fails if it is called before its previous promise has settled. */
class SlowReader {
  readonly chunks: OutputChunk[] = []
  #isReading = false

  readonly take = async (chunk: OutputChunk): Promise<void> => {
    assert.ok(!this.#isReading, 'called again while a promise was pending')
    this.#isReading = true
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    this.chunks.push(chunk)
    this.#isReading = false
  }

  text(stream: OutputChunk['stream']): string {
    return this.chunks
      .filter((chunk) => chunk.stream === stream)
      .map(({ text }) => text)
      .join('')
  }
}

const talkers = {
  shell: { ...shell, code: 'for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done' },
  python: {
    ...python,
    code: "import sys\nfor i in range(1, 6):\n  print('out', i, flush=True)\n  print('err', i, file=sys.stderr, flush=True)",
  },
  bun: { ...bun, code: "for (let i = 1; i < 6; i++) { console.log('out', i); console.error('err', i) }" },
  node: { ...node, code: "for (let i = 1; i < 6; i++) { console.log('out', i); console.error('err', i) }" },
} as const

for (const [name, request] of Object.entries(talkers)) {
  test(`${name}: a slow reader gets every piece once, in order, before run() resolves`, async () => {
    const reader = new SlowReader()
    const { stdout, stderr } = await guests.run({ ...request, onOutput: reader.take })
    const lines = (word: string) => [1, 2, 3, 4, 5].map((number) => `${word} ${number}\n`).join('')
    assert.deepEqual([stdout, stderr], [lines('out'), lines('err')])
    assert.deepEqual([reader.text('stdout'), reader.text('stderr')], [stdout, stderr])
  })
}

test('output that is written to one stream after the other was read arrives after it', async () => {
  const order: string[] = []
  await guests.run({
    ...python,
    // The guest writes a line only after the cell has read the previous one, which is when the pipe is empty.
    code: `import array, fcntl, os, termios, time
def say(fd, text):
    os.write(fd, text.encode())
    left = array.array('i', [1])
    while left[0] > 0:
        time.sleep(0.001)
        fcntl.ioctl(fd, termios.FIONREAD, left)
for i in range(1, 9):
    say(1, f'{i}\\n')
    say(2, f'{i}\\n')`,
    onOutput: ({ stream, text }) => order.push(`${stream} ${text.trim()}`),
  })
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8]
  assert.deepEqual(
    order,
    numbers.flatMap((number) => [`stdout ${number}`, `stderr ${number}`]),
  )
})

test('a flood of output for a slow reader arrives completely and in order, and the memory of the host stays small', async () => {
  const [hash, limits] = [createHash('sha256'), { outputBytes: 8 * MiB, wallMs: ampleMs, hostMs: ampleMs }]
  const onOutput = async ({ bytes }: OutputChunk) => {
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    hash.update(bytes)
  }
  const { stdout, outcome } = await keepHeldFlat(() =>
    guests.run({ ...shell, code: 'seq 1 100000000', limits, onOutput }),
  )
  assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'output', allowed: limits.outputBytes })
  assert.equal(stdout.length, limits.outputBytes)
  assert.equal(hash.digest('hex'), createHash('sha256').update(stdout).digest('hex'))
})

test('a reader that stops blocks the guest, until the wall limit ends it', async () => {
  let taken = 0
  const standStill = async (request: RunRequest) => {
    const [called, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const onOutput = async ({ bytes }: OutputChunk) => {
      called.resolve()
      await gate.promise
      taken += bytes.length
    }
    const run = guests.run({ ...request, onOutput })
    await Promise.race([called.promise, run])
    await eventually(() => (isAnyGuestAlive() ? 'the guest is alive' : undefined), ampleMs)
    gate.resolve()
    return run
  }
  const { result, wallMs } = await runPatiently(standStill, {
    ...shell,
    code: 'head -c 200000000 /dev/zero',
    limits: { outputBytes: 256 * MiB },
  })
  const { outcome, stdout, usage } = result
  assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
  // The guest has filled the pipe, the cell's outbox and the sockets, and then blocked.
  assert.ok(usage.outputBytes > 0 && usage.outputBytes < 4 * MiB, `${usage.outputBytes} bytes were written`)
  assert.equal(taken, usage.outputBytes)
  assert.equal(stdout.length, usage.outputBytes)
})

test('an error of onOutput rejects run(), whether at once, later, or after the guest has ended', async () => {
  const mistake = new Error('mistake')
  const code = 'echo a; sleep 60'
  const rejected = { message: 'mistake' }
  await assert.rejects(guests.run({ ...shell, code, onOutput: () => assert.fail(mistake) }), rejected)
  await assert.rejects(guests.run({ ...shell, code, onOutput: () => Promise.reject(mistake) }), rejected)
  const late = async () => {
    await eventually(() => (isAnyGuestAlive() ? 'the guest is alive' : undefined), ampleMs)
    throw mistake
  }
  await assert.rejects(guests.run({ ...shell, code: 'echo a', onOutput: late }), rejected)
})

test('a reader that never returns is not awaited if the run is cancelled', async () => {
  const controller = new AbortController()
  const called = Promise.withResolvers<void>()
  const run = guests.run({
    ...shell,
    code: 'echo a',
    signal: controller.signal,
    onOutput: () => {
      called.resolve()
      return new Promise<void>(() => undefined)
    },
  })
  await called.promise
  await eventually(() => (isAnyGuestAlive() ? 'the guest is alive' : undefined), ampleMs)
  controller.abort()
  const { outcome, stdout } = await run
  assert.deepEqual([outcome, stdout], [{ kind: 'completed', exitCode: 0 }, 'a\n'])
})
