/** The engine's compiled code. It is compiled once for the process, and shared by all threads. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'

/** A `WebAssembly.Module`, which Node's types lack. */
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
// Not `import.meta.resolve`: loaders that compile modules to CommonJS, such as tsx, do not provide it.
const file = () => createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')
let compile = compileInBackground
let compiled: Promise<EngineModule> | undefined

export function compileEngine(): Promise<EngineModule> {
  compiled ??= compile().catch((error: unknown) => {
    // The reason, such as too many open files, may not apply to the next attempt.
    compiled = undefined
    throw error
  })
  return compiled
}

/**
 * For a process that runs one program and exits. After some milliseconds V8 recompiles parts of the engine to faster code,
 * and the process cannot exit before that is done: 100 ms of processor time for a program that takes 1 ms. With this
 * setting V8 starts that sixteen times later.
 */
export function expectOneProgram(): void {
  compile = compileForOneProgram
}

async function compileInBackground(): Promise<EngineModule> {
  return WebAssembly.compile(await readFile(file()))
}

/** Blocks for about 10 ms. */
async function compileForOneProgram(): Promise<EngineModule> {
  setFlagsFromString(`--wasm-tiering-budget=${16 * usualTieringBudget}`)
  try {
    return new WebAssembly.Module(readFileSync(file()))
  } finally {
    // Node's cached code is valid only with the default flags, and the thread is about to load it.
    setFlagsFromString(`--wasm-tiering-budget=${usualTieringBudget}`)
  }
}

/** V8's default. The unit is roughly the number of bytes of executed code. */
const usualTieringBudget = 13_000_000
