/** The output of a program: where, when and in which order it arrives. */
import assert from 'node:assert/strict'
import { it } from 'node:test'

import type { OutputChunk } from '../../../src/core/request.ts'
import type { ContractParts } from '../runtime.contract.ts'

const MiB = 1024 * 1024

export function contractOfOutput(parts: ContractParts): void {
  const { programs, run } = parts

  it('keeps stdout and stderr apart', async () => {
    const { stdout, stderr } = await run(programs.printToBoth)
    assert.deepEqual({ stdout, stderr }, { stdout: 'out 1\nout 2\n', stderr: 'err 1\nerr 2\n' })
  })

  it('delivers each stream completely, in order and as it is printed', async () => {
    const chunks: OutputChunk[] = []
    const { stdout, stderr } = await run(programs.printToBoth, { onOutput: (chunk) => chunks.push(chunk) })
    const joined = (stream: string) =>
      Buffer.concat(chunks.filter((chunk) => chunk.stream === stream).map(({ bytes }) => bytes)).toString()
    assert.deepEqual({ stdout: joined('stdout'), stderr: joined('stderr') }, { stdout, stderr })
    const times = chunks.map(({ atMs }) => atMs)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    // Whole microseconds, without further digits of a binary fraction.
    for (const atMs of times) assert.match(String(atMs), /^\d+(\.\d{1,3})?$/)
  })

  it('delivers output before the program ends', async () => {
    const controller = new AbortController()
    // It sleeps for ever, so only a caller that has received its output can end it.
    const { outcome, stdout } = await run(programs.printThenSleep('ready'), {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    })
    assert.deepEqual({ outcome, stdout }, { outcome: { kind: 'cancelled' }, stdout: 'ready' })
  })

  it('delivers every character complete, even if it is split between two pieces', async () => {
    // Three bytes each, so that pieces whose sizes are powers of two end inside a character.
    const text = '€'.repeat(100_000)
    const pieces: string[] = []
    const { stdout } = await run(programs.print(text), { onOutput: (chunk) => pieces.push(chunk.text) })
    assert.ok(stdout === text, 'stdout differs')
    assert.ok(pieces.join('') === text, 'the pieces differ')
  })

  it('replaces invalid UTF-8 in texts and delivers the bytes unchanged', async () => {
    const sent = [0x61, 0xff, 0xfe, 0x00, 0x80, 0x62]
    const chunks: Uint8Array[] = []
    const { stdout } = await run(programs.printBytes(sent), { onOutput: ({ bytes }) => chunks.push(bytes) })
    assert.equal(stdout, 'a\ufffd\ufffd\0\ufffdb')
    assert.deepEqual([...Buffer.concat(chunks)], sent)
  })

  it('delivers megabytes', async () => {
    const { outcome, stdout, truncated, usage } = await run(programs.fill(5 * MiB))
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.ok(stdout === 'x'.repeat(5 * MiB), 'the output differs')
    assert.deepEqual({ truncated, bytes: usage.outputBytes }, { truncated: [], bytes: 5 * MiB })
  })

  contractOfBudget(parts)
  contractOfConsole(parts)
}

function contractOfBudget({ programs, run }: ContractParts): void {
  it('accepts output that fits its limit exactly', async () => {
    const { outcome, stdout, truncated } = await run(programs.fill(70_000), {
      limits: { outputBytes: 70_000 },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.deepEqual({ length: stdout.length, truncated }, { length: 70_000, truncated: [] })
  })

  it('ends a program that prints one byte too many and keeps what fits', async () => {
    const { outcome, stdout, truncated, usage } = await run(programs.fill(70_001), {
      limits: { outputBytes: 70_000 },
    })
    assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'output', allowed: 70_000 })
    assert.deepEqual({ length: stdout.length, bytes: usage.outputBytes }, { length: 70_000, bytes: 70_000 })
    assert.ok(truncated.includes('stdout'))
  })

  it('counts both streams against one limit', async () => {
    const { outcome, stdout, stderr } = await run(programs.printToBoth, { limits: { outputBytes: 20 } })
    assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'output', allowed: 20 })
    assert.equal(stdout.length + stderr.length, 20)
    assert.ok('out 1\nout 2\n'.startsWith(stdout) && 'err 1\nerr 2\n'.startsWith(stderr))
  })

  it('runs a silent program even if no output is allowed', async () => {
    const { outcome } = await run(programs.exitWith(0), { limits: { outputBytes: 0 } })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  })
}

function contractOfConsole({ programs, run }: ContractParts): void {
  const { console } = programs
  if (console === null) return

  it('logs every console call with its level, in order, and prints it, too', async () => {
    const { logs, stdout, stderr } = await run(console.code)
    assert.deepEqual(
      logs.map(({ level, text }) => ({ level, text })),
      console.logs,
    )
    const printed = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
    assert.deepEqual(printed.toSorted(), console.logs.map(({ text }) => text).toSorted())
  })
}
