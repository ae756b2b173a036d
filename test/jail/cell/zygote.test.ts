/** A zygote of Python: how it starts, what it keeps, whom it answers, and what ends with it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'

import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import type { LazaretError } from '../../../src/index.ts'
import { encodeFrame, frameType } from '../../../src/jail/launch/frames.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { openZygote } from '../../../src/jail/cell/zygote-cell.ts'
import type { Zygote } from '../../../src/jail/cell/zygote-cell.ts'
import { planPythonZygote } from '../../../src/runtimes/python/zygote.ts'
import { eventually } from '../../support/eventually.ts'
import { ParkedGuest } from '../../support/parked-guest.ts'
import { findProcess, isAlive, listDescendants } from '../../support/machine/processes.ts'
import type { HostProcess } from '../../support/machine/processes.ts'
import { livingDescendants, openPythonZygote, python, zygoteLimits } from './python-zygote.ts'

const deadMs = 20_000

/** The current contents of a process's writable memory. */
function readMemory(pid: number): Buffer[] {
  const regions = readFileSync(`/proc/${pid}/maps`, 'latin1').matchAll(/^(\w+)-(\w+) rw/gm)
  const file = openSync(`/proc/${pid}/mem`, 'r')
  try {
    return Array.from(regions, ([, from = '', until = '']) => {
      const [start, end] = [Number.parseInt(from, 16), Number.parseInt(until, 16)]
      const bytes = Buffer.alloc(end - start)
      readSync(file, bytes, 0, bytes.length, start)
      return bytes
    })
  } finally {
    closeSync(file)
  }
}

describe('a zygote', { skip: python === null }, () => {
  let machine: Machine
  before(() => {
    machine = new Machine({ uidRange: defaultUidRange })
  })
  after(async () => {
    await machine[Symbol.asyncDispose]()
    assert.deepEqual(livingDescendants(), [])
  })

  /** The interpreter of the zygote's cell, which is the first child of pid 1. */
  function findInterpreter(zygote: Zygote): HostProcess {
    const pid1 = findProcess(zygote.pid1 as number)
    assert.ok(pid1 !== undefined)
    const interpreter = listDescendants(pid1.pid).find(
      ({ parent, name }) => parent === pid1.pid && name.startsWith('python'),
    )
    assert.ok(interpreter !== undefined)
    return interpreter
  }

  it('says which import failed, and why', async () => {
    await assert.rejects(openPythonZygote(machine, ['random', 'no_such.module']), (error: LazaretError) => {
      assert.equal(error.code, 'RUNTIME_UNAVAILABLE')
      assert.match(error.message, /import no_such\.module: ModuleNotFoundError: No module named 'no_such'/)
      return true
    })
  })

  it('that never reports that it is ready can be aborted', async () => {
    const program = { argv: ['/usr/bin/sleep', '600'], env: {}, binds: [] }
    const options = { machine, clock: systemClock, program, limits: zygoteLimits, guestsMax: 1 }
    const sleeps = () =>
      livingDescendants().some(({ name }) => name === 'sleep') ? undefined : 'nobody sleeps'
    for (const when of ['before it starts', 'while it is awaited']) {
      const controller = new AbortController()
      if (when === 'before it starts') controller.abort()
      const opening = assert.rejects(openZygote({ ...options, signal: controller.signal }), {
        code: 'CELL_FAILED',
      })
      if (when === 'while it is awaited') await eventually(sleeps, deadMs)
      controller.abort()
      await opening
      assert.equal(sleeps(), 'nobody sleeps')
    }
  })

  it('keeps its secret from the processes of its spaces', async (t) => {
    if (machine.identity !== 'own') return t.skip('needs root, to read the memory of pid 1')
    assert.ok(python !== null)
    const ids: string[] = []
    const id = () => ids[ids.push(systemClock.id()) - 1] ?? ''
    const program = planPythonZygote(python, { preload: [], readable: [] })
    const clock = { ...systemClock, id }
    const zygote = await openZygote({ machine, clock, program, limits: zygoteLimits, guestsMax: 2 })
    assert.ok(zygote !== null)
    await using all = new AsyncDisposableStack()
    all.use(zygote)
    for (let guest = 0; guest < 2; guest++) all.use(await ParkedGuest.park(zygote))
    const secret = Buffer.from(ids.slice(1, 3).join('').replaceAll('-', ''), 'hex')
    assert.equal(secret.length, 32)
    const pid1 = zygote.pid1 as number
    assert.ok(readMemory(pid1).some((bytes) => bytes.includes(secret)))
    // Two launchers, their pid 1s, and three interpreters. Helpers of pid 1 come and go.
    await eventually(() => `${listDescendants(pid1).length}`.replace(/^7$/, '') || undefined, deadMs)
    const others = listDescendants(pid1)
    for (const { pid, name } of others)
      assert.ok(!readMemory(pid).some((bytes) => bytes.includes(secret)), name)
  })

  it('keeps nothing of what was sent for a guest', async (t) => {
    if (machine.identity !== 'own') return t.skip('needs root, to read its memory')
    await using zygote = await openPythonZygote(machine, [])
    const mark = `mark-${systemClock.id()}`
    const guest = await ParkedGuest.park(zygote, defaultLimits, { env: { MARK: mark } })
    assert.equal((await guest.run('import os\nos.environ["MARK"]')).value, mark)
    await guest[Symbol.asyncDispose]()
    const { pid } = findInterpreter(zygote)
    assert.ok(!readMemory(pid).some((bytes) => bytes.includes(mark)))
  })

  it('gets only names of modules', () => {
    const interpreter = python
    assert.ok(interpreter !== null)
    for (const name of ['', 'a b', '../x', 'a;b', '-c', 'a..b', 'x'.repeat(300)])
      assert.throws(() => planPythonZygote(interpreter, { preload: [name], readable: [] }), {
        code: 'INVALID_REQUEST',
      })
  })

  it('has only what its forks need', async () => {
    await using zygote = await openPythonZygote(machine, [])
    const { pid } = findInterpreter(zygote)
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1]
    const capabilities = machine.identity === 'own' ? '00000000002400c0' : '0000000000240000'
    assert.deepEqual(['CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp', 'Threads'].map(field), [
      capabilities,
      '0000000000000000',
      '1',
      '2',
      '1',
    ])
  })

  it('that is killed forks no more guests, and existing ones continue', async () => {
    await using zygote = await openPythonZygote(machine, [])
    const guest = await ParkedGuest.park(zygote)
    process.kill(findInterpreter(zygote).pid, 'SIGKILL')
    await zygote.gone
    assert.equal(zygote.alive, false)
    assert.equal((await guest.run('5')).value, 5)
    await guest[Symbol.asyncDispose]()
    await assert.rejects(zygote.build(defaultLimits), { code: 'CELL_FAILED' })
  })

  it('disconnects clients without its secret, and is not disturbed by them', async () => {
    await using zygote = await openPythonZygote(machine, [])
    const stranger = connect({ path: `\0${zygote.name}` })
    const received: Buffer[] = []
    stranger.on('data', (chunk: Buffer) => received.push(chunk))
    stranger.write(encodeFrame(frameType.greeting, 1, Buffer.concat([Buffer.of(1, 0), Buffer.alloc(32)])))
    await once(stranger, 'close')
    assert.deepEqual(received, [])
    // More connections than it keeps, all of them silent.
    const crowd = Array.from({ length: 250 }, () => connect({ path: `\0${zygote.name}` }))
    for (const silent of crowd) silent.on('error', () => undefined)
    const guest = await ParkedGuest.park(zygote)
    assert.equal((await guest.run('8')).value, 8)
    await guest[Symbol.asyncDispose]()
    for (const silent of crowd) silent.destroy()
  })

  it('leaves nothing when its host is killed', async () => {
    const script = new URL('../../support/hosts/family-host.ts', import.meta.url).pathname
    const host = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [word] = (await once(host.stdout, 'data')) as [Buffer]
    assert.equal(word.toString(), 'ready')
    const family = listDescendants(host.pid as number)
    // For each guest the stub and pid 1 of its space, and itself; for the zygote its stub, pid 1, and itself.
    assert.ok(family.length >= 9, `${family.length} processes`)
    host.kill('SIGKILL')
    await once(host, 'exit')
    await eventually(() => family.find(isAlive)?.name, deadMs)
  })

  it('ends all its guests when its pid 1 is killed', async () => {
    await using zygote = await openPythonZygote(machine, [])
    const guests = [await ParkedGuest.park(zygote), await ParkedGuest.park(zygote)]
    const family = listDescendants(zygote.pid1 as number)
    assert.ok(family.length >= 7, `${family.length} processes`)
    process.kill(zygote.pid1 as number, 'SIGKILL')
    for (const guest of guests) {
      await guest.built.cell.gone
      await guest[Symbol.asyncDispose]()
    }
    await zygote.gone
    await eventually(() => family.find(isAlive)?.name, deadMs)
  })
})
