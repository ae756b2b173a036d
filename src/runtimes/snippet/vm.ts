/**
 * The engine of one program: QuickJS in WebAssembly, with its own linear memory. It offers the language and two bindings. It
 * has no means to wait or to compile strings, and by default a fixed clock and fixed random numbers.
 */
import { EvalFlags, Intrinsics, JSException, MAX_STACK_SIZE, QuickJS } from 'quickjs-wasi'
import type { JSValueHandle } from 'quickjs-wasi'

import { systemClock } from '../../core/clock.ts'
import type { GuestError } from '../../core/outcome.ts'
import type { EngineModule, LinearMemory } from './engine-module.ts'
import type { OutputWriter } from './output-buffer.ts'
import { prelude, preludeName } from './prelude.ts'
import type { ProgramEnd, VmConfig } from './thread-protocol.ts'

/** The name of the program in its errors. */
const programName = '<code>'
const errorTextMax = 8192
/** The prelude adds this prefix to all text that it passes. */
const arrivedMark = '!'
/** The library's text for a value that cannot be converted to text, because that throws or memory has run out. */
const noText = '<null>'

/**
 * The built-ins of the program. Omitted are promises, and thus all waiting; weak references, which reveal garbage collection;
 * `performance`; `atob`. `eval` is needed by the host, and the prelude removes it.
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

/** What the host provides to a program. */
export interface VmHost {
  readonly output: OutputWriter
  readonly input: string
  /** Called when the program exceeds its output limit. Must not return. */
  readonly onOutputFull: () => never
}

/** Serves one program. */
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

  /** Accepts only strings: a conversion could run code of the program inside a function of the host. */
  #textOf(value: JSValueHandle | undefined): string {
    try {
      return value?.isString === true ? value.toString() : ''
    } catch {
      return ''
    }
  }

  /**
   * Returns undefined if the engine has no memory for the input. An error would show a stack of the host to the guest.
   */
  #read(): JSValueHandle {
    try {
      // One string for all calls: the library keeps each returned value until the engine is disposed of.
      this.#input ??= this.#engine.newString(this.#host?.input ?? '')
      if (this.#input.isString) return this.#input
    } catch {
      // There is no memory for the copy.
    }
    this.#input = undefined
    return this.#engine.undefined
  }

  #isOutOfMemory(thrown: unknown): boolean {
    if (!(thrown instanceof JSException)) return isAllocationFailure(thrown)
    // An engine without memory for an error object throws null. Then its memory is at the limit.
    if (thrown.handle.isNull) return this.memoryBytes >= this.config.memoryBytes
    // The value may be a proxy, and any other check would run its code.
    if (!thrown.handle.isError) return false
    try {
      const { undefined: nothing } = this.#engine
      return this.#engine.callFunction(this.#checkOutOfMemory, nothing, thrown.handle).toBoolean()
    } catch {
      return true
    }
  }

  /** Compiles the program again to see whether the error is one of syntax. This does not run any of it. */
  #phaseOf(thrown: unknown, source: string): 'syntax' | 'run' {
    // The compiler throws a RangeError for source that is nested too deeply.
    if (!(thrown instanceof JSException) || !/^(Syntax|Range)Error$/.test(thrown.name)) return 'run'
    try {
      this.#engine.evalCode(source, programName, EvalFlags.COMPILE_ONLY)
      return 'run'
    } catch {
      return 'syntax'
    }
  }
}

/** The library throws this error if the linear memory has no room for a value of the host. */
const isAllocationFailure = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message === 'wasm_malloc failed'

/** The only functions outside of the VM that the engine can call. */
function systemCalls(memory: LinearMemory, { clock, randomness }: VmConfig) {
  const noSuchCall = 52
  let isSeeding = true
  return {
    clock_time_get(_id: number, _precision: bigint, result: number): number {
      // The first call is for the seed of Math.random.
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

/** Describes any thrown value. The result is guest text. */
function describe(thrown: unknown): GuestError {
  if (!(thrown instanceof JSException)) {
    // The engine itself failed, or the host's stack was too small for it.
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
  return message === noText && !handle.isString ? '(a value that cannot be converted to text)' : message
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

const clip = (text: string): string => text.slice(0, errorTextMax).toWellFormed()
