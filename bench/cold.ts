/** Cold rows: a fresh cell for each turn, nothing kept warm. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '../src/core/clock.ts'
import { defaultLimits } from '../src/core/limits.ts'
import type { RunRequest } from '../src/core/request.ts'
import { createLazaret } from '../src/engine/lazaret.ts'
import { buildCell } from '../src/jail/build-cell.ts'
import { Machine } from '../src/jail/machine.ts'
import { ownView } from '../src/jail/place.ts'
import { planRlimits } from '../src/jail/rlimits.ts'
import { defaultUidRange } from '../src/jail/uid-range.ts'
import { Toolchains } from '../src/runtimes/toolchains.ts'
import { compare, timed } from './measure.ts'
import type { Comparison, Rival } from './measure.ts'
import { bubblewrap, bubblewrapArguments, runPlain } from './rivals.ts'

export async function benchCold(turns: number): Promise<Comparison[]> {
  return [await compareCells(turns), await compareReady(turns), ...(await compareRuntimes(turns))]
}

/** `/bin/true` in a cell of the same shape that every run gets, to the moment its exit is known. */
async function compareCells(turns: number): Promise<Comparison> {
  await using machine = new Machine({ uidRange: defaultUidRange })
  const inBubblewrap: Rival[] =
    bubblewrap === undefined
      ? []
      : [
          {
            name: 'bubblewrap, same mounts',
            turn: timed(() => runPlain(bubblewrap as string, [...bubblewrapArguments, '/bin/true'])),
          },
        ]
  return await compare('/bin/true in a fresh cell, to its exit', turns, [
    { name: 'lazaret cell', turn: () => useCell(machine, 'exit') },
    ...inBubblewrap,
    { name: 'Node spawn, no wall', turn: timed(() => runPlain('/bin/true', [])) },
  ])
}

async function compareReady(turns: number): Promise<Comparison> {
  await using machine = new Machine({ uidRange: defaultUidRange })
  return await compare('a fresh cell, to ready', turns, [
    { name: 'lazaret cell', turn: () => useCell(machine, 'ready') },
  ])
}

/** The time until `moment`; the cell is gone before the next turn. */
async function useCell(machine: Machine, moment: 'ready' | 'exit'): Promise<number> {
  const start = performance.now()
  const shape = { binds: [], network: 'none', place: ownView, diskBytes: defaultLimits.diskBytes } as const
  const { cell, ground, clean } = await buildCell(
    { shape, limits: defaultLimits, hasChannel: false },
    machine,
    systemClock,
  )
  const exit = Promise.withResolvers<void>()
  if (moment === 'ready') await cell.ready
  else {
    const rlimitGround = {
      identity: ground.identity.kind,
      memoryHeldByCgroup: ground.cgroup !== null,
      isPid1Counted: true,
      runtimeDataBytes: 0,
      openFilesHard: machine.openFilesHard,
    }
    const spec = {
      file: '/bin/true',
      argv: ['true'],
      env: {},
      folder: '/workspace',
      rlimits: planRlimits(defaultLimits, rlimitGround),
      hasChannel: false,
      outputBytes: 1024,
      wallMs: 0,
      watched: { memoryBytes: null, cpuMs: null, socketBytes: null },
    }
    const listener = {
      onSpawned() {},
      onOutput() {},
      onExceeded() {},
      onUsage() {},
      onExit: () => exit.resolve(),
    }
    cell.spawn(spec, listener, (failure) => exit.reject(new Error(failure.step)))
    await exit.promise
  }
  const ms = performance.now() - start
  await clean()
  return ms
}

async function compareRuntimes(turns: number): Promise<Comparison[]> {
  const toolchains = new Toolchains()
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-bench-'))
  await using lazaret = createLazaret()
  const ours = (request: RunRequest): Rival => ({
    name: `lazaret ${request.runtime ?? request.language}`,
    turn: timed(async () => {
      const { outcome } = await lazaret.run(request)
      if (outcome.kind !== 'completed' || outcome.exitCode !== 0)
        throw new Error(`A turn ended as ${JSON.stringify(outcome)}.`)
    }),
  })
  const plain = (name: string, file: string | null, extension: string, code: string): Rival[] => {
    if (file === null) return []
    const path = join(folder, `program.${extension}`)
    writeFileSync(path, code)
    return [{ name: `${name}, no wall`, turn: timed(() => runPlain(file, [path])) }]
  }
  const javascript = 'let sum = 0; for (let i = 0; i < 1000; i++) sum += i; console.log(sum); sum'
  const python = 'total = sum(range(1000))\nprint(total)\ntotal'
  try {
    return [
      await compare('bun, cold', turns, [
        ours({ language: 'javascript', runtime: 'bun', code: javascript }),
        ...plain('bun', toolchains.bun(), 'js', javascript),
      ]),
      await compare('node, cold', turns, [
        ours({ language: 'javascript', runtime: 'node', code: javascript }),
        ...plain('node', toolchains.node(), 'cjs', javascript),
      ]),
      await compare('typescript on bun, cold', turns, [
        ours({ language: 'typescript', runtime: 'bun', code: `enum E { A = 1 }\n${javascript} + E.A` }),
        ...plain('bun', toolchains.bun(), 'ts', `enum E { A = 1 }\n${javascript} + E.A`),
      ]),
      await compare('python, cold', turns, [
        ours({ language: 'python', code: python }),
        ...plain('python3', toolchains.python()?.path ?? null, 'py', python),
      ]),
      await compare('shell, cold', turns, [
        ours({ language: 'shell', code: 'echo hi' }),
        ...plain('bash', toolchains.shell(), 'sh', 'echo hi'),
      ]),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
