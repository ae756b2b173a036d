/**
 * One program's engine: QuickJS in WebAssembly, with a linear memory of its own. It has the language and two bindings:
 * no clock, no randomness, no way to wait, no way to compile strings.
 */
import { EvalFlags, Intrinsics, JSException, MAX_STACK_SIZE, QuickJS } from 'quickjs-wasi'
import type { JSValueHandle } from 'quickjs-wasi'

import { systemClock } from '../../core/clock.ts'
import type { GuestError } from '../../core/outcome.ts'
import type { EngineModule, LinearMemory } from './engine-module.ts'
import type { OutputWriter } from './output-buffer.ts'
import { prelude, preludeName } from './prelude.ts'
import type { ProgramEnd, VmConfig } from './thread-protocol.ts'

/** How the program is called in its errors. */
const programName = '<code>'
const errorTextMax = 8192

/**
 * What the program finds. Left out: promises, and so all that waits; weak references, which tell when memory is
 * collected; `performance`; `atob`. The compiler of strings is there for the host and is taken out by the prelude.
 */
const intrinsics =
  Intrinsics.EVAL |
  Intrinsics.DATE |
  Intrinsics.REGEXP |
  Intrinsics.JSON |
  Intrinsics.PROXY |
  Intrinsics.MAP_SET |
  Intrinsics.TYPED_ARRAYS |
  Intrinsics.BIG_INT

/** What a program may use. */
export interface VmHost {
  readonly output: OutputWriter
  readonly input: string
  /** The program wrote past the end of its output. Must not return. */
  readonly onOutputFull: () => never
}

/** Serves one program, once. */
export class Vm {
  readonly #engine: QuickJS
  readonly #controls: JSValueHandle
  readonly #memory: LinearMemory
  readonly config: VmConfig
  #host: VmHost | undefined

  static async create(module: EngineModule, config: VmConfig): Promise<Vm> {
    let memory: LinearMemory = { buffer: new ArrayBuffer(0) }
    const engine = await QuickJS.create({
      wasm: module,
      intrinsics,
      memoryLimit: config.memoryBytes,
      maxStackSize: MAX_STACK_SIZE,
      timezoneOffset: 0,
      wasi: (linear: LinearMemory) => {
        memory = linear
        return systemCalls(linear, config)
      },
    })
    return new Vm(engine, config, memory)
  }

  private constructor(engine: QuickJS, config: VmConfig, memory: LinearMemory) {
    this.#engine = engine
    this.config = config
    this.#memory = memory
    const write = engine.newFunction('emit', (text, isNamedNull) => this.#write(text, isNamedNull))
    const read = engine.newFunction('read_input', () => this.#read())
    const install = engine.evalCode(prelude, preludeName)
    this.#controls = engine.callFunction(install, engine.undefined, write, read)
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength
  }

  run(source: string, host: VmHost): ProgramEnd {
    this.#host = host
    // One more than the cap: what long text passes it with.
    this.#control('setLengthMax', this.#engine.newNumber(host.output.capBytes + 1))
    try {
      this.#engine.evalCode(source, programName)
      return { kind: 'completed' }
    } catch (thrown) {
      return this.#isOutOfMemory(thrown)
        ? { kind: 'out-of-memory' }
        : { kind: 'failed', phase: this.#phaseOf(thrown, source), error: describe(thrown) }
    }
  }

  #write(text: JSValueHandle | undefined, isNamedNull: JSValueHandle | undefined): JSValueHandle {
    const { output, onOutputFull } = this.#host as VmHost
    const written = text?.toString() ?? ''
    // What the library answers for a string that there was no memory to copy.
    if (written === '<null>' && isNamedNull?.toNumber() !== 1) return this.#engine.false
    if (!output.append(written)) onOutputFull()
    return this.#engine.true
  }

  /** Undefined when the engine has no memory for it. What is thrown here would show the guest a stack of ours. */
  #read(): JSValueHandle {
    try {
      return this.#engine.newString(this.#host?.input ?? '')
    } catch {
      return this.#engine.undefined
    }
  }

  #control(name: string, argument: JSValueHandle): JSValueHandle {
    return this.#engine.callFunction(this.#controls.getProp(name), this.#engine.undefined, argument)
  }

  #isOutOfMemory(thrown: unknown): boolean {
    if (!(thrown instanceof JSException)) return isAllocationFailure(thrown)
    // An engine without memory even for an error throws null. It has then used all that it may.
    if (thrown.handle.isNull) return this.memoryBytes >= this.config.memoryBytes
    try {
      return this.#control('isOutOfMemory', thrown.handle).toNumber() === 1
    } catch {
      return true
    }
  }

  /** Compiling runs nothing of the program. */
  #phaseOf(thrown: unknown, source: string): 'syntax' | 'run' {
    // The second: source that is nested too deeply.
    if (!(thrown instanceof JSException) || !/^(Syntax|Range)Error$/.test(thrown.name)) return 'run'
    try {
      this.#engine.evalCode(source, programName, EvalFlags.COMPILE_ONLY)
      return 'run'
    } catch {
      return 'syntax'
    }
  }
}

/** The library throws this when the linear memory cannot hold what the host wants to write there. */
const isAllocationFailure = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message === 'wasm_malloc failed'

/** All that the engine can ask of the world. */
function systemCalls(memory: LinearMemory, { clock, randomness }: VmConfig) {
  const noSuchCall = 52
  let isSeeding = randomness === 'real'
  return {
    clock_time_get(_id: number, _precision: bigint, result: number): number {
      const nanoseconds = isSeeding ? randomBits() : clock === 'real' ? wallClock() : 0n
      // The first question is for the seed of Math.random.
      isSeeding = false
      new DataView(memory.buffer).setBigUint64(result, nanoseconds, true)
      return 0
    },
    fd_write: () => noSuchCall,
    fd_fdstat_get: () => noSuchCall,
    random_get: () => noSuchCall,
  }
}

const wallClock = (): bigint => BigInt(Date.parse(systemClock.timestamp())) * 1_000_000n

const randomBits = (): bigint => BigInt(`0x${systemClock.id().replaceAll('-', '').slice(0, 15)}`)

/** In words, whatever was thrown. All of it is guest text. */
function describe(thrown: unknown): GuestError {
  if (!(thrown instanceof JSException)) {
    // The engine itself gave up, or the host's stack was too short for it.
    return { name: 'InternalError', message: clip(`the engine stopped: ${messageOf(thrown)}`) }
  }
  if (!thrown.handle.isError) return { name: 'Uncaught', message: clip(valueText(thrown)) }
  const [name, message] = [clip(thrown.name), clip(thrown.message)]
  const place = /<code>:(\d+):(\d+)/.exec(clip(thrown.stack ?? ''))
  const stack = clip(`${name}: ${message}\n${thrown.stack ?? ''}`.trimEnd())
  return place === null
    ? { name, message }
    : { name, message, stack, line: Number(place[1]), column: Number(place[2]) }
}

function valueText({ handle, message }: JSException): string {
  if (handle.isNull) return 'null'
  return handle.isUndefined ? 'undefined' : message
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

const clip = (text: string): string => text.slice(0, errorTextMax).toWellFormed()
