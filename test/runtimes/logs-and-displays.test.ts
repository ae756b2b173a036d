/** Logs and displays as they happen: each once, in order, and no faster than the caller takes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { DisplayFacts, LogEntry, MimeBundle } from '../../src/index.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { eventually } from '../support/eventually.ts'
import { isAnyGuestAlive } from '../support/machine/processes.ts'
import { untilPythonBlocks } from '../support/machine/blocked-guests.ts'
import { keepHeldFlat } from '../support/machine/held-memory.ts'
import { ampleMs } from '../support/patient-run.ts'
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

test('displays block their guest while the caller is slow, and the memory of the host stays small', async () => {
  const [called, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const controller = new AbortController()
  let calls = 0
  const onDisplay = async () => {
    calls++
    called.resolve()
    await gate.promise
  }
  const { outcome, displays } = await keepHeldFlat(async () => {
    let isOver = false
    // Half a gigabyte.
    const code =
      "it = display('x' * 100_000, display_id='it')\nfor _ in range(5000): it.update('y' * 100_000)"
    const request = {
      ...python,
      code,
      onDisplay,
      signal: controller.signal,
      limits: { wallMs: ampleMs, hostMs: ampleMs },
    }
    const run = guests.run(request).finally(() => (isOver = true))
    await Promise.race([called.promise, run])
    assert.equal(await untilPythonBlocks(() => isOver || !isAnyGuestAlive()), 'blocked')
    assert.equal(calls, 1)
    controller.abort()
    gate.resolve()
    return run
  })
  assert.deepEqual(outcome, { kind: 'cancelled' })
  assert.equal(displays.length, 1)
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
