/**
 * One program's engine: QuickJS in WebAssembly, with its own linear memory. It has the language and two bindings: no
 * clock, no randomness, no way to wait, no way to compile strings.
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
/** The prelude puts it before all text that it hands over. */
const arrivedMark = '!'
/** What the library answers for what cannot become text, because that throws or because there is no memory for it. */
const noText = '<null>'

/**
 * What the program finds. Left out: promises, and so all that waits; weak references, which tell when memory is
 * collected; `performance`; `atob`. The string compiler exists for the host, and the prelude removes it.
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
  readonly #checkOutOfMemory: JSValueHandle
  #input: JSValueHandle | undefined
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
    const write = engine.newFunction('emit', (text) => this.#write(text))
    const read = engine.newFunction('read_input', () => this.#read())
    const install = engine.evalCode(prelude, preludeName)
    this.#checkOutOfMemory = engine.callFunction(install, engine.undefined, write, read)
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength
  }

  run(source: string, host: VmHost): ProgramEnd {
    this.#host = host
    try {
      this.#engine.evalCode(source, programName)
      return { kind: 'completed' }
    } catch (thrown) {
      return this.#isOutOfMemory(thrown)
        ? { kind: 'out-of-memory' }
        : { kind: 'failed', phase: this.#phaseOf(thrown, source), error: describe(thrown) }
    }
  }

  #write(text: JSValueHandle | undefined): JSValueHandle {
    const { output, onOutputFull } = this.#host as VmHost
    const marked = this.#textOf(text)
    if (!marked.startsWith(arrivedMark)) return this.#engine.false
    if (!output.append(marked.slice(arrivedMark.length))) onOutputFull()
    return this.#engine.true
  }

  /** Converting anything but a string would run code of the program inside a function of the host. */
  #textOf(value: JSValueHandle | undefined): string {
    try {
      return value?.isString === true ? value.toString() : ''
    } catch {
      return ''
    }
  }

  /**
   * Undefined when the engine has no memory for it. An error thrown here would show the guest a stack of the host.
   */
  #read(): JSValueHandle {
    try {
      // One for all calls: the library keeps what a host function returns until the engine is gone.
      this.#input ??= this.#engine.newString(this.#host?.input ?? '')
      if (this.#input.isString) return this.#input
    } catch {
      // There was no memory to copy it into.
    }
    this.#input = undefined
    return this.#engine.undefined
  }

  #isOutOfMemory(thrown: unknown): boolean {
    if (!(thrown instanceof JSException)) return isAllocationFailure(thrown)
    // An engine without memory even for an error throws null. It has then used all that it may.
    if (thrown.handle.isNull) return this.memoryBytes >= this.config.memoryBytes
    // Every other question would run code of the program, because the value may be a proxy.
    if (!thrown.handle.isError) return false
    try {
      const { undefined: nothing } = this.#engine
      return this.#engine.callFunction(this.#checkOutOfMemory, nothing, thrown.handle).toBoolean()
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
  let isSeeding = true
  return {
    clock_time_get(_id: number, _precision: bigint, result: number): number {
      // The first question is for the seed of Math.random.
      const isReal = isSeeding ? randomness === 'real' : clock === 'real'
      const nanoseconds = isReal ? (isSeeding ? randomBits() : wallClock()) : 0n
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

/** Describes any thrown value. All of it is guest text. */
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
  if (handle.isUndefined) return 'undefined'
  return message === noText && !handle.isString ? '(a value that does not become text)' : message
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

const clip = (text: string): string => text.slice(0, errorTextMax).toWellFormed()
