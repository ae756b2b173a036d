/** The engine's machine code: compiled once for the process, and shared by all threads. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** A `WebAssembly.Module`; Node's types leave WebAssembly to those of browsers. */
export type EngineModule = object
/** A `WebAssembly.Memory`. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer
}
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<EngineModule>
}

const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }
let compiled: Promise<EngineModule> | undefined

export function compileEngine(): Promise<EngineModule> {
  compiled ??= compile()
  return compiled
}

async function compile(): Promise<EngineModule> {
  return WebAssembly.compile(await readFile(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))))
}
