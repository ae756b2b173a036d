/** Logs and displays as they happen: each once, in order, and no faster than the caller takes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import type { DisplayFacts, LogEntry, MimeBundle, RunRequest } from '../../src/index.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { eventually } from '../support/eventually.ts'
import { keepMemoryFlat } from '../support/machine/resident-memory.ts'
import { runPatiently } from '../support/patient-run.ts'
import { bun, node, python, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
const talkers = { bun, node, isolate: { language: 'javascript', runtime: 'isolate' } } as const

for (const [name, request] of Object.entries(talkers))
  test(`${name}: each console call is reported while the program runs, and is in the result, too`, async () => {
    const received: LogEntry[] = []
    const code = "console.log('one'); console.warn('two'); await more(); console.error('three')"
    const seen: number[] = []
    const more = async () => {
      await eventually(() => (received.length === 2 ? undefined : `${received.length} were received`), 10_000)
      seen.push(received.length)
    }
    const onLog = (entry: LogEntry) => received.push(entry)
    await using isolates = createLazaret()
    const lazaret = name === 'isolate' ? isolates : guests
    const { logs, stdout } = await lazaret.run({ ...request, code, functions: { more }, onLog })
    assert.deepEqual(seen, [2])
    assert.deepEqual(received, logs)
    assert.deepEqual(
      received.map(({ level, text }) => [level, text]),
      [
        ['log', 'one'],
        ['warn', 'two'],
        ['error', 'three'],
      ],
    )
    assert.equal(stdout, 'one\n')
  })

test('displays, updates and clearing are reported one at a time, in order', async () => {
  const received: unknown[] = []
  let isBusy = false
  const take = async (what: unknown): Promise<void> => {
    assert.equal(isBusy, false, 'called again while a promise was pending')
    isBusy = true
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    received.push(what)
    isBusy = false
  }
  const { displays } = await guests.run({
    ...python,
    code: `handle = display('first', display_id='it')
handle.update('second')
clear_output(wait=True)
display('third')
clear_output()
display('last')`,
    onDisplay: (bundle: MimeBundle, facts: DisplayFacts) => take([bundle['text/plain'], facts]),
    onClear: (waits: boolean) => take(waits),
  })
  assert.deepEqual(received, [
    ["'first'", { displayId: 'it' }],
    ["'second'", { displayId: 'it', isUpdate: true }],
    true,
    ["'third'", {}],
    false,
    ["'last'", {}],
  ])
  assert.deepEqual(displays, [{ 'text/plain': "'last'" }])
})

test('endless displays block their guest if the caller is slow, and the memory of the host stays small', async () => {
  let calls = 0
  const standStill = async (request: RunRequest) => {
    const gate = Promise.withResolvers<void>()
    const controller = new AbortController()
    const onDisplay = async () => {
      calls++
      await gate.promise
    }
    const run = guests.run({ ...request, onDisplay, signal: controller.signal })
    // The time limit ends the run; after that the caller stops waiting.
    await Promise.race([run, pause((request.limits?.wallMs ?? 0) + 500)])
    controller.abort()
    gate.resolve()
    return run
  }
  const { result } = await keepMemoryFlat(() =>
    runPatiently(
      standStill,
      {
        ...python,
        code: "it = display('x' * 100_000, display_id='it')\nwhile True: it.update('y' * 100_000)",
      },
      () => calls > 0,
    ),
  )
  assert.equal(result.outcome.kind, 'timed-out')
  assert.equal(result.displays.length, 1)
  assert.equal(calls, 1)
})

test('an error of onLog or onDisplay rejects run() and ends the guest', async () => {
  const fail = () => assert.fail('mistake')
  const reject = () => Promise.reject(new Error('mistake'))
  const log = { ...bun, code: "console.log('a'); await new Promise(() => setInterval(() => {}, 1000))" }
  const show = { ...python, code: "display('a')\nwhile True: pass" }
  for (const one of [fail, reject]) {
    await assert.rejects(guests.run({ ...log, onLog: one }), { message: 'mistake' })
    await assert.rejects(guests.run({ ...show, onDisplay: one }), { message: 'mistake' })
  }
})
