/** The engine's machine code: compiled once for the process, and shared by all threads. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

/** A `WebAssembly.Module`; Node's types leave WebAssembly to those of browsers. */
export type EngineModule = object
/** A `WebAssembly.Memory`. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer
}
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<EngineModule>
  readonly Module: new (bytes: Uint8Array) => EngineModule
}

const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }
const file = () => fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))
let compile = compileBeside
let compiled: Promise<EngineModule> | undefined

export function compileEngine(): Promise<EngineModule> {
  compiled ??= compile().catch((error: unknown) => {
    // What was missing now, a descriptor perhaps, may be there for the next one.
    compiled = undefined
    throw error
  })
  return compiled
}

/**
 * For a process that runs one program and ends. V8 compiles a part of the engine again, to better code, when that has
 * run for some milliseconds, and a process does not end before it is done with that: 100 ms of processor time for a
 * program that takes one. After this it waits sixteen times as long before it does so.
 */
export function expectOneProgram(): void {
  compile = compileForOneProgram
}

async function compileBeside(): Promise<EngineModule> {
  return WebAssembly.compile(await readFile(file()))
}

/** Blocks for some 10 ms. */
async function compileForOneProgram(): Promise<EngineModule> {
  setFlagsFromString(`--wasm-tiering-budget=${16 * usualTieringBudget}`)
  try {
    return new WebAssembly.Module(readFileSync(file()))
  } finally {
    // Code that Node brings compiled is for the usual flags, and the thread is about to load it.
    setFlagsFromString(`--wasm-tiering-budget=${usualTieringBudget}`)
  }
}

/** V8's own, in about the bytes of code that run. */
const usualTieringBudget = 13_000_000
