/** The files of a real cell, with guests in it that do what they like meanwhile. */
import { after, before } from 'node:test'

import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { probeMachine } from '../../../src/engine/probe.ts'
import { buildCell } from '../../../src/jail/build-cell.ts'
import type { BuiltCell } from '../../../src/jail/build-cell.ts'
import type { Cell } from '../../../src/jail/cell.ts'
import type { ProcessListener } from '../../../src/jail/guest-process.ts'
import { Machine } from '../../../src/jail/machine.ts'
import { planFileRlimits } from '../../../src/jail/rlimits.ts'
import type { Place } from '../../../src/jail/place.ts'
import { defaultUidRange } from '../../../src/jail/uid-range.ts'
import { Toolchains } from '../../../src/runtimes/toolchains.ts'
import type { FileExit, FileProcess } from '../../../src/sandbox/files/file-process.ts'
import { SandboxFiles } from '../../../src/sandbox/files/sandbox-files.ts'

const MiB = 1024 * 1024
export const diskBytes = 32 * MiB

export interface TestFiles {
  readonly files: SandboxFiles
  /** Runs a shell program in the same cell; what it printed. */
  shell(code: string): Promise<string>
  /** Starts one that goes on until the tests are over. */
  start(file: string, ...argv: readonly string[]): void
  /** A file that only this process could have written: its path outside the cell. */
  readonly cell: Cell
}

const noLimits = { memoryBytes: null, cpuMs: null, socketBytes: null }

/** Call once, at the top of a test file. */
export function useFiles(): TestFiles {
  const machine = new Machine({ uidRange: defaultUidRange })
  let built: BuiltCell
  let place: Place
  before(async () => {
    await probeMachine({ machine, minimum: 'restricted', onRefusal() {} }, new Toolchains())
    place = machine.choosePlace()
    const shape = { binds: [], network: 'none', place, diskBytes } as const
    built = await buildCell({ shape, limits: defaultLimits, hasChannel: false }, machine, systemClock)
    await built.cell.ready
  })
  after(async () => {
    await built.clean()
    await machine[Symbol.asyncDispose]()
  })
  const spawn = (
    spec: Parameters<Cell['spawn']>[0],
    listener: Partial<ProcessListener>,
    failed: () => void,
  ) => {
    const nothing = { onSpawned() {}, onOutput() {}, onExceeded() {}, onUsage() {}, onExit() {} }
    return built.cell.spawn(spec, { ...nothing, ...listener }, failed)
  }
  const common = () => ({
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: place.workspace, LANG: 'C.UTF-8' },
    folder: place.workspace,
    hasChannel: false,
    wallMs: 0,
    watched: noLimits,
    outputBytes: 2 ** 40,
  })
  const startTask = (task: string, args: readonly string[]): FileProcess => {
    const input: Uint8Array[] = []
    const exit = Promise.withResolvers<FileExit>()
    const output = new Queue()
    let stderr = ''
    return {
      async write(bytes) {
        input.push(Buffer.from(bytes))
      },
      end() {
        const listener: Partial<ProcessListener> = {
          onOutput(stream, bytes) {
            if (stream === 'stdout') output.add(Buffer.from(bytes))
            else stderr += bytes.toString()
          },
          onExit({ end }) {
            output.end()
            exit.resolve({ exitCode: end.by === 'exit' ? end.exitCode : 137, stderr })
          },
        }
        const stdin = Buffer.concat(input)
        const rlimits = planFileRlimits(diskBytes)
        spawn({ ...common(), file: task, argv: args, rlimits, stdin, isFileTask: true }, listener, () => {
          output.end()
          exit.resolve({ exitCode: 127, stderr })
        })
      },
      output,
      exit: exit.promise,
      kill() {},
    }
  }
  const files = new SandboxFiles(startTask)
  return {
    files,
    get cell() {
      return built.cell
    },
    async shell(code) {
      const end = Promise.withResolvers<string>()
      let printed = ''
      const onOutput = (_: string, bytes: Buffer) => void (printed += bytes.toString('latin1'))
      const spec = { ...common(), file: '/bin/sh', argv: ['sh', '-c', code], rlimits: [] }
      spawn(spec, { onOutput, onExit: () => end.resolve(printed) }, () => end.resolve('failed'))
      return end.promise
    },
    start(file, ...argv) {
      spawn({ ...common(), file, argv: [file, ...argv], rlimits: [] }, {}, () => undefined)
    },
  }
}

class Queue {
  readonly #chunks: Uint8Array[] = []
  #isOver = false
  #wake = (): void => undefined

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) yield chunk
      else if (this.#isOver) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
