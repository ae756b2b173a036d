/** The nursery serves only its host, confuses no launchers, and leaves nothing behind, whichever side dies. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'

import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { behindBestWall } from '../../../src/jail/machine/best-wall.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { buildCell } from '../../../src/jail/cell/build-cell.ts'
import type { BuiltCell } from '../../../src/jail/cell/build-cell.ts'
import type { StepFailure } from '../../../src/jail/cell/cell-reports.ts'
import { encodeFrame, frameHeaderBytes, frameType } from '../../../src/jail/launch/frames.ts'
import { explainFailure } from '../../../src/jail/launch/launch.ts'
import type { Launcher } from '../../../src/jail/launch/launcher.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import type { NurseryProcess } from '../../../src/jail/launch/nursery-process.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { eventually } from '../../support/eventually.ts'
import { findProcess, isAlive, isDead, listDescendants } from '../../support/machine/processes.ts'
import type { HostProcess } from '../../support/machine/processes.ts'

const deadMs = 20_000
const library = new URL('../../../src/index.ts', import.meta.url).href
const greetingBytes = frameHeaderBytes + 2

let machine: Machine
beforeEach(() => {
  machine = new Machine({ uidRange: defaultUidRange })
})
afterEach(async () => {
  await machine[Symbol.asyncDispose]()
  assert.deepEqual(livingDescendants(process.pid), [])
})

/** Nobody can reap a child of a terminated worker thread before this process ends. */
function livingDescendants(pid: number | undefined): HostProcess[] {
  return listDescendants(pid as number).filter((one) => !isDead(one))
}

async function build(): Promise<BuiltCell> {
  const wall = { machine, minimum: 'restricted', onRefusal: () => undefined } as const
  return await behindBestWall(wall, async (place) => {
    const shape = { place, binds: [], network: 'none', diskBytes: 1024 * 1024 } as const
    const built = await buildCell({ shape, limits: defaultLimits, hasChannel: false }, machine, systemClock)
    try {
      await built.cell.ready
    } catch (failure) {
      await built.clean()
      throw explainFailure(failure as StepFailure, built.plan)
    }
    return built
  })
}

/** A host creates its nursery at the second cell. */
async function startNursery(): Promise<NurseryProcess> {
  for (let cells = 0; cells < 2; cells++) await (await build()).clean()
  await eventually(() => (machine.nursery.process === undefined ? 'no nursery' : undefined), deadMs)
  return machine.nursery.process as NurseryProcess
}

async function launch(nursery: NurseryProcess, hasChannel: boolean): Promise<Launcher> {
  const launcher = await (await nursery.launch(hasChannel))?.launcher
  assert.ok(launcher !== null && launcher !== undefined)
  return launcher
}

function find(pid: number | undefined): HostProcess {
  const found = findProcess(pid as number)
  assert.ok(found !== undefined)
  return found
}

async function assertDead(one: HostProcess): Promise<void> {
  await eventually(() => (isAlive(one) ? `${one.name} is alive` : undefined), deadMs)
}

/** The folders of runs of this process, from all its threads. */
function runFolders(): string[] {
  return globSync(join(tmpdir(), `lazaret-*-${process.pid}-*`, 'run-*'))
}

/** Undefined if it has only its own descriptors. A new child of the nursery may not be readable yet. */
function describeOpen(pid: number): string | undefined {
  try {
    const open = readdirSync(`/proc/${pid}/fd`).join()
    return open === '0,1,2,3,4' ? undefined : `open: ${open}`
  } catch (error) {
    return (error as Error).message
  }
}

/** Everything that a socket receives until it is closed. */
async function listen(socket: Socket): Promise<Buffer> {
  const received: Buffer[] = []
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  await new Promise((closed) => socket.once('close', closed))
  return Buffer.concat(received)
}

const greet = (id: number, role: number): Buffer =>
  encodeFrame(frameType.greeting, id, Uint8Array.of(role, 0))

describe('a host', () => {
  it('whose nursery has to be somewhere starts every launcher there, and replaces a lost nursery', async () => {
    const held: number[] = []
    machine.nursery.hold = (pid) => held.push(pid)
    for (const cells of [1, 2]) {
      const { cell, clean } = await build()
      assert.deepEqual([held.length, find(find(cell.pid1).parent).parent], [cells, held.at(-1)])
      await clean()
      process.kill(held.at(-1) as number, 'SIGKILL')
      await eventually(() => (machine.nursery.process === undefined ? undefined : 'not lost yet'), deadMs)
    }
  })

  it('starts no nursery for its first cell; from the second cell on, a nursery starts the launchers', async () => {
    await (await build()).clean()
    assert.deepEqual([machine.nursery.process, livingDescendants(process.pid)], [undefined, []])
    const nursery = await startNursery()
    const { cell, clean } = await build()
    const stub = find(find(cell.pid1).parent)
    assert.deepEqual([stub.parent, find(nursery.pid).parent], [nursery.pid, process.pid])
    await clean()
  })

  it('is not kept alive by an idle nursery, which ends with it', async () => {
    const code = `const lazaret = (await import('${library}')).createLazaret({ minimumProtection: 'restricted' })
      for (let i = 0; i < 4; i++) await lazaret.run({ language: 'shell', code: ':' })
      process.stdout.write('done')`
    const host = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(host.stdout, 'data')
    const family = listDescendants(host.pid as number)
    const [status] = (await once(host, 'exit')) as [number]
    assert.equal(status, 0)
    for (const one of family) await assertDead(one)
  })

  it('that is a worker thread ends its nursery when it is terminated', async () => {
    // Without pools, because a parked worker would leave its folder, which at `restricted` only the host itself may
    // remove.
    const code = `import { createLazaret } from '${library}'
      import { parentPort } from 'node:worker_threads'
      const lazaret = createLazaret({ minimumProtection: 'restricted', pools: { shell: { max: 0 } } })
      for (let i = 0; i < 4; i++) await lazaret.run({ language: 'shell', code: ':' })
      parentPort.postMessage('done')
      setInterval(() => undefined, 1000)`
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`))
    await once(worker, 'message')
    const isNursery = ({ name }: HostProcess) => name === 'nursery'
    await eventually(() => (listDescendants(process.pid).some(isNursery) ? undefined : 'no nursery'), deadMs)
    const [nursery] = listDescendants(process.pid).filter(isNursery)
    assert.ok(nursery !== undefined)
    // A run's folder is removed after its result, and at `restricted` only by this thread.
    await eventually(() => (runFolders().length === 0 ? undefined : runFolders().join()), deadMs)
    await worker.terminate()
    await assertDead(nursery)
  })
})

describe('the nursery', () => {
  it('disconnects every process except its host, and launches nothing for it', async () => {
    const nursery = await startNursery()
    const bytes = Buffer.concat([greet(1, 1), greet(1, 3)]).toString('hex')
    const code = `
      const { connect } = require('node:net')
      const ends = [1, 3].map((role) => new Promise((resolve) => {
        const socket = connect({ path: '\\0${nursery.name}' })
        let heard = 0
        const bytes = Buffer.from('${bytes}', 'hex').subarray(role === 1 ? 0 : ${greetingBytes})
        socket.on('data', (chunk) => (heard += chunk.length))
        socket.on('error', () => undefined)
        socket.once('close', () => resolve(heard))
        socket.write(bytes.subarray(0, ${greetingBytes}))
      }))
      Promise.all(ends).then((heard) => process.stdout.write(JSON.stringify(heard)))`
    const stranger = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [answer] = (await once(stranger.stdout, 'data')) as [Buffer]
    await once(stranger, 'close')
    assert.deepEqual(JSON.parse(answer.toString()), [0, 0])
    assert.deepEqual(livingDescendants(nursery.pid), [])
    assert.ok(nursery.isStanding)
  })

  it('disconnects an invalid greeting and a second one for the same socket, and continues', async () => {
    const nursery = await startNursery()
    const say = async (bytes: Uint8Array): Promise<Buffer> => {
      const socket = connect({ path: `\0${nursery.name}` })
      socket.write(bytes)
      return listen(socket)
    }
    assert.equal((await say(Buffer.alloc(greetingBytes))).length, 0)
    assert.equal((await say(greet(7, 2))).length, 0)
    assert.equal((await say(encodeFrame(frameType.plan, 7, Buffer.alloc(2)))).length, 0)
    // Either of the two may be the second, which is refused.
    const twins = [1, 2].map(() => connect({ path: `\0${nursery.name}` }))
    for (const twin of twins) twin.write(greet(7, 1))
    assert.equal((await Promise.race(twins.map(listen))).length, 0)
    for (const twin of twins) twin.destroy()
    await (await build()).clean()
    assert.ok(nursery.isStanding)
  })

  it('gives each launcher the descriptors of its own cell and no other', async () => {
    const nursery = await startNursery()
    // These stay in the nursery: connections that never become a launcher.
    const strays = Array.from({ length: 3 }, () => connect({ path: `\0${nursery.name}` }))
    await Promise.all(strays.map((socket) => once(socket, 'connect')))
    strays[0]?.write(greet(4_000_000, 1))
    const launchers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => launch(nursery, index % 2 === 0)),
    )
    const pids = livingDescendants(nursery.pid).map(({ pid }) => pid)
    assert.equal(pids.length, launchers.length)
    const seen = new Set<string>()
    let sockets = 0
    for (const pid of pids) {
      await eventually(() => describeOpen(pid), deadMs)
      for (const fd of [0, 1, 2, 3, 4]) {
        const target = readlinkSync(`/proc/${pid}/fd/${fd}`)
        if (target === '/dev/null') continue
        assert.match(target, /^socket:/)
        seen.add(target)
        sockets++
      }
      assert.equal(readFileSync(`/proc/${pid}/environ`, 'latin1'), '')
      assert.equal(readlinkSync(`/proc/${pid}/cwd`), '/')
      assert.equal(readFileSync(`/proc/${pid}/cmdline`, 'latin1'), 'cell\0')
    }
    // Ten with a channel and ten without, and none of them twice.
    assert.deepEqual([sockets, seen.size], [50, 50])
    for (const { control } of launchers) control.end()
    await Promise.all(launchers.map(({ ended }) => ended))
    for (const one of [...strays, ...launchers.flatMap(({ report, channel }) => [report, channel])])
      one?.destroy()
    assert.deepEqual(livingDescendants(nursery.pid), [])
  })

  it('kills a launcher on request, and no later process with the same number', async () => {
    const nursery = await startNursery()
    const launcher = await launch(nursery, false)
    const other = await launch(nursery, false)
    assert.equal(livingDescendants(nursery.pid).length, 2)
    for (const stream of [launcher.report, launcher.control]) stream.resume()
    launcher.kill()
    await launcher.ended
    assert.equal(livingDescendants(nursery.pid).length, 1)
    launcher.kill()
    other.control.end()
    await other.ended
    other.report.destroy()
  })

  it('serves two hundred runs at one time, each with its own output', async () => {
    await using lazaret = createLazaret({ minimumProtection: 'restricted' })
    for (let runs = 0; runs < 3; runs++) await lazaret.run({ language: 'shell', code: ':' })
    const runs = Array.from({ length: 200 }, (_, index) =>
      lazaret.run({ language: 'shell', code: `echo ${index}`, limits: { wallMs: 60_000 } }),
    )
    const outputs = (await Promise.all(runs)).map(({ stdout }) => stdout)
    assert.deepEqual(
      outputs,
      runs.map((_, index) => `${index}\n`),
    )
  })
})

describe('when a nursery dies', () => {
  it('its cells continue to their normal end, and the host gets another nursery', async () => {
    const nursery = await startNursery()
    const { cell, clean } = await build()
    const pid1 = find(cell.pid1)
    process.kill(nursery.pid as number, 'SIGKILL')
    await nursery.gone
    assert.ok(isAlive(pid1))
    await clean()
    assert.ok((await cell.gone).cpuMs > 0)
    await assertDead(pid1)
    await (await build()).clean()
    await eventually(() => (machine.nursery.process === undefined ? 'no nursery' : undefined), deadMs)
    assert.notEqual(machine.nursery.process?.pid, nursery.pid)
  })

  it('if it is stopped before it forks a launcher, the cell is built without it', async () => {
    const nursery = await startNursery()
    process.kill(nursery.pid as number, 'SIGSTOP')
    await (await build()).clean()
    assert.ok(nursery.isLost)
  })

  it('a process that takes its name learns nothing about a run', async () => {
    const nursery = await startNursery()
    process.kill(nursery.pid as number, 'SIGKILL')
    // Busy-waits without a turn of the event loop, so this host does not know yet.
    while (/[^ZX]/.test(findProcess(nursery.pid as number)?.state ?? 'X')) continue
    let notified = 0
    const impostor = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => (notified += chunk.length))
    })
    impostor.listen(`\0${nursery.name}`)
    const answer = await nursery.launch(false)
    assert.equal(answer === null ? null : await answer.launcher, null)
    assert.ok(notified <= 2 * greetingBytes)
    await new Promise((closed) => impostor.close(closed))
  })

  it('disposal waits for it, even if it is stopped', async () => {
    const nursery = await startNursery()
    const before = find(nursery.pid)
    process.kill(before.pid, 'SIGSTOP')
    await machine[Symbol.asyncDispose]()
    assert.equal(findProcess(before.pid), undefined)
  })
})
