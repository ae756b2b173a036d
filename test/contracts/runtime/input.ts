/** The input of a program: stdin, arguments and the structured input. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it } from 'node:test'

import type { ContractParts } from '../runtime.contract.ts'
import { untilShown } from '../../support/patient-run.ts'
import type { ReceivedResult } from './programs.ts'

const KiB = 1024
const MiB = 1024 * KiB

export function contractOfInput(parts: ContractParts): void {
  contractOfStdin(parts)
  contractOfArguments(parts)
  contractOfValues(parts)
}

function contractOfStdin({ programs, run }: ContractParts): void {
  for (const size of [0, 1, 300 * KiB, 5 * MiB]) {
    it(`reads ${size} bytes of stdin to their end`, async () => {
      const stdin = Buffer.alloc(size, 'The quick brown fox. ')
      const { outcome, stdout } = await run(programs.copyStdin, { stdin })
      assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
      assert.equal(digest(stdout), digest(stdin))
    })
  }

  it('finds the end of stdin at once when there is none', async () => {
    const { outcome, stdout } = await run(programs.copyStdin)
    assert.deepEqual({ outcome, stdout }, { outcome: { kind: 'completed', exitCode: 0 }, stdout: '' })
  })

  it('may leave five megabytes of stdin unread', async () => {
    const { outcome, stdout } = await run(programs.print('not interested'), {
      stdin: Buffer.alloc(5 * MiB, 'x'),
    })
    assert.deepEqual(
      { outcome, stdout },
      { outcome: { kind: 'completed', exitCode: 0 }, stdout: 'not interested' },
    )
  })

  it('can be ended by its time limit while stdin is unread', async () => {
    const { seen, deadlineMs: wallMs } = await untilShown(
      (limitMs) =>
        run(programs.printThenSleep('busy'), {
          stdin: Buffer.alloc(5 * MiB, 'x'),
          limits: { wallMs: limitMs },
        }),
      (one) => one.seen.stdout !== '',
    )
    const { outcome, stdout } = seen
    assert.deepEqual(
      { outcome, stdout },
      { outcome: { kind: 'timed-out', limit: 'wall', limitMs: wallMs }, stdout: 'busy' },
    )
  })
}

function contractOfArguments({ programs, run }: ContractParts): void {
  const args = [
    'plain',
    '',
    ' ',
    `"double" 'single'`,
    'two\nlines',
    '$HOME `id` $(id) \\',
    '-c',
    '--help',
    '--',
    '日本語 ✓',
    '*',
  ]

  it('receives arguments exactly as they were given', async () => {
    const { stdout } = await run(programs.printArguments, { args })
    assert.deepEqual(stdout.split('\0').slice(0, -1), args)
  })

  it('receives an argument of 100 KiB', async () => {
    const { stdout } = await run(programs.printArguments, { args: ['x'.repeat(100 * KiB)] })
    assert.equal(stdout.length, 100 * KiB + 1)
  })

  it('receives no arguments when there are none', async () => {
    const { stdout } = await run(programs.printArguments)
    assert.equal(stdout, '')
  })
}

function contractOfValues({ programs, run }: ContractParts): void {
  async function receive(input: unknown): Promise<ReceivedResult> {
    const chunks: Uint8Array[] = []
    const result = await run(programs.input.code, { input, onOutput: (chunk) => chunks.push(chunk.bytes) })
    return { ...result, bytes: Uint8Array.from(Buffer.concat(chunks)) }
  }

  const shared = { name: 'shared' }
  const kinds = {
    texts: ['', 'text with "quotes", \u2028, \0 and 日本語'],
    numbers: [0, -12.5, 2 ** 53 - 1, 1e300],
    words: [null, true, false],
    nested: { a: { b: [[], {}] }, '': 1 },
    'an own key $type': { $type: 'Date', value: 'not one' },
    date: new Date('2026-01-31T12:34:56.789Z'),
    'a big integer': 2n ** 100n,
    'a set': new Set([1, 'two']),
    'a map whose keys are no texts': new Map([
      [1, 'one'],
      [2, 'two'],
    ]),
    'numbers beyond JSON': [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    bytes: new Uint8Array([0, 255, 128]),
    shared: [shared, shared],
  }

  it('receives every kind of value, inside others, as its input', async () => {
    const result = await receive(kinds)
    assert.deepEqual(result.outcome, { kind: 'completed', exitCode: 0 })
    assert.deepEqual(programs.input.received(result, kinds), kinds)
  })

  for (const [kind, sent] of Object.entries({
    null: null,
    'a number': 1,
    'a text': 'text\0\n',
    bytes: new Uint8Array([0, 255]),
  })) {
    it(`receives ${kind} as its whole input`, async () => {
      assert.deepEqual(programs.input.received(await receive(sent), sent), sent)
    })
  }

  it('receives an input that contains itself', async () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    const received = programs.input.received(await receive(circle), circle) as typeof circle
    assert.equal(received.self, received)
  })

  it('refuses an input that is larger than its limit', async () => {
    const refused = run(programs.input.code, { input: ['x'.repeat(2000)], limits: { inputBytes: 1000 } })
    await assert.rejects(refused, { code: 'INPUT_TOO_LARGE', message: /input/ })
  })
}

const digest = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
