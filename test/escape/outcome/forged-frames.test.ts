/** Guest code can write to its end of the private channel, so messages there are only claims. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { brokenFrames, frameFloods, pythonFrames } from '../../support/hostile/forged-messages.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const KiB = 1024
const limits = { wallMs: ampleMs, hostMs: ampleMs, resultBytes: 64 * KiB, outputBytes: 64 * KiB }

const javascriptFrames = `
  const fs = await import('node:fs')
  const frame = (message) => { const data = Buffer.from(JSON.stringify(message)); const head = Buffer.alloc(4); head.writeUInt32LE(data.length); return Buffer.concat([head, data]) }
  const send = (bytes) => { for (let at = 0; at < bytes.length; ) { try { at += fs.writeSync(3, bytes, at) } catch (error) { if (error.code !== 'EAGAIN') throw error } } }`

const lies = [
  { type: 'outcome', outcome: { kind: 'timed-out', limit: 'wall', limitMs: 1 } },
  { type: 'exit', exitCode: 0 },
  { type: 'usage', wallMs: 1, cpuMs: 1, memoryPeakBytes: 1 },
  { type: 'receipt', protection: 'strong', layers: ['everything'] },
  { type: 'killed', reason: 'wall' },
  { type: 'value', value: { kind: 'timed-out' }, text: 'forged', truncated: false },
]

const forgeries = {
  python: {
    ...python,
    code: `${pythonFrames}\nfor lie in input_data: send(frame(lie))\nsys.stdout.write('said')\nsys.stdout.flush()\nos._exit(7)`,
  },
  bun: {
    ...bun,
    code: `${javascriptFrames}; for (const lie of input) send(frame(lie)); fs.writeSync(1, 'said'); process.exit(7)`,
  },
  node: {
    ...node,
    code: `${javascriptFrames}; for (const lie of input) send(frame(lie)); fs.writeSync(1, 'said'); process.exit(7)`,
  },
}

for (const [name, request] of Object.entries(forgeries)) {
  test(`${name}: forged outcomes, usage and receipts change nothing`, async () => {
    const { outcome, stdout, usage, receipt } = await guests.run({ ...request, input: lies, limits })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 7 })
    assert.equal(stdout, 'said')
    assert.ok(
      usage.wallMs > 2 && usage.cpuMs > 2 && usage.memoryPeakBytes > 1024 * KiB,
      JSON.stringify(usage),
    )
    assert.deepEqual([receipt.protection, receipt.layers.includes('everything')], [guests.level, false])
  })
}

test('a forged error does not make a successful program fail', async () => {
  const code = `${pythonFrames}\nsend(frame({'type': 'error', 'phase': 'run', 'error': {'name': 'MemoryError', 'message': 'forged'}}))\nos._exit(0)`
  assert.deepEqual((await guests.run({ ...python, code, limits })).outcome, {
    kind: 'completed',
    exitCode: 0,
  })
})

test('a value called __proto__ reaches no prototype of the host', async () => {
  const value = `{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}`
  const code = `${pythonFrames}\nsend(frame(b'{"type": "value", "text": "", "value": ${value}}'))\nsend(frame(b'{"type": "display", "bundle": {"__proto__": "x"}}'))\nsend(frame(b'{"__proto__": {"type": "value", "value": 1}}'))\nos._exit(0)`
  const { value: arrived } = await guests.run({ ...python, code, limits })
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  assert.equal(Object.getPrototypeOf(arrived), Object.prototype)
})

test('a value that is nested very deeply, or very wide, does not crash the host', async () => {
  const text = (value: string) =>
    `${pythonFrames}\nsend(frame(b'{"type":"value","text":"","value":' + ${value} + b'}'))\nos._exit(0)`
  for (const value of [
    `b'[' * 60000 + b']' * 60000`,
    `b'{"a":' * 20000 + b'1' + b'}' * 20000`,
    `b'{"$type":"Map","value":[[' * 4000 + b'1,1' + b']]}' * 4000`,
    `b'[' + b'[],' * 30000 + b'1]'`,
  ]) {
    const { outcome } = await keepHeldFlat(() => guests.run({ ...python, code: text(value), limits }))
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  }
})

for (const [name, action] of Object.entries(brokenFrames)) {
  test(`${name} on the channel does not change the outcome of the run`, async () => {
    const { outcome, stdout } = await keepHeldFlat(() =>
      guests.run({
        ...python,
        code: `${pythonFrames}\n${action}\nsys.stdout.write('alive')\nsys.stdout.flush()\nos._exit(3)`,
        limits,
      }),
    )
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 3 })
    assert.equal(stdout, 'alive')
  })
}

for (const name of ['random bytes', 'a length that never comes true', 'nothing'] as const) {
  const action = brokenFrames[name]
  test(`${name} on the channel does not get a run past its deadline`, async () => {
    const { result, wallMs } = await runPatiently(guests.run, {
      ...python,
      code: `${pythonFrames}\n${action}\nprint('sent', flush=True)\ntime.sleep(600)`,
      limits,
    })
    assert.deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
    assert.equal(result.stdout, 'sent\n')
  })
}

for (const [name, action] of Object.entries(frameFloods)) {
  test(`a flood of ${name} on the channel ends the run, and the host stays small`, async () => {
    const { outcome } = await keepHeldFlat(() =>
      guests.run({ ...python, code: `${pythonFrames}\n${action}`, limits }),
    )
    assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'output', allowed: limits.outputBytes })
  })
}

test('a flood of logs within the default limits leaves the host small too', async () => {
  const { outcome } = await keepHeldFlat(() =>
    guests.run({ ...python, code: `${pythonFrames}\n${frameFloods.logs}`, limits: { wallMs: 2000 } }),
  )
  assert.ok(outcome.kind === 'limit-exceeded' || outcome.kind === 'timed-out')
})

test('shell has no channel: descriptor 3 is closed', async () => {
  const { stdout } = await guests.run({
    ...shell,
    code: `(echo x >&3) 2>/dev/null || echo closed; test -e /proc/self/fd/3 || echo none`,
  })
  assert.equal(stdout, 'closed\nnone\n')
})

test('frames of the launcher’s own protocol on stdout and stderr are just text', async () => {
  // An EXIT and a GONE frame as native/cell writes them.
  const code = `frame='\\0\\0\\0\\0C\\1\\0\\0\\0'; printf "$frame"; printf "$frame" >&2; printf '\\34\\0\\0\\0Q\\0\\0\\0\\0'; exit 5`
  const { outcome, usage } = await guests.run({ ...shell, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 5 })
  assert.equal(usage.outputBytes, 27)
})
