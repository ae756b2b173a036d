/**
 * What is taken out of an isolate before anything else happens there: ways to memory that isolated-vm does not count, to
 * other threads and to sleep.
 */
import { defineProperty, getOwnPropertyDescriptor } from '../../../core/primordials.ts'

const { construct } = Reflect
const NativeArrayBuffer = ArrayBuffer
const fixed = { __proto__: null, writable: false, enumerable: false, configurable: false }

/** V8's own console, before ours takes its place; and ways to memory that is not counted. */
export function cutEnvironment(): void {
  remove(globalThis, 'console')
  fixArrayBuffers()
}

/** When an isolate opens: most of these are not in the realm of its snapshot. */
export function cutLateEnvironment(): void {
  // A test knows all names that are left, so that a new engine adds none unseen.
  remove(globalThis, 'WebAssembly', 'SharedArrayBuffer', 'ShadowRealm', 'gc')
  // They wait for other threads, and there are none.
  remove(Atomics, 'wait', 'waitAsync', 'notify', 'pause')
}

/** Buffers that can grow get past the memory limit: none can be made. */
function fixArrayBuffers(): void {
  const { prototype } = NativeArrayBuffer
  remove(prototype, 'resize')
  const OwnArrayBuffer = function (length?: unknown): object {
    if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'")
    const target = (new.target as unknown) === OwnArrayBuffer ? NativeArrayBuffer : new.target
    return construct(NativeArrayBuffer, [length], target) as object
  }
  define(OwnArrayBuffer, 'name', 'ArrayBuffer')
  define(OwnArrayBuffer, 'length', 1)
  define(OwnArrayBuffer, 'prototype', prototype)
  define(OwnArrayBuffer, 'isView', NativeArrayBuffer.isView)
  // A getter that answers its `this`, so it may stay the engine's.
  const species = getOwnPropertyDescriptor(NativeArrayBuffer, Symbol.species) as PropertyDescriptor
  defineProperty(OwnArrayBuffer, Symbol.species, species)
  define(prototype, 'constructor', OwnArrayBuffer)
  defineProperty(globalThis, 'ArrayBuffer', {
    __proto__: null,
    value: OwnArrayBuffer,
    writable: true,
    configurable: true,
  } as PropertyDescriptor)
}

function define(owner: object, name: string, value: unknown): void {
  defineProperty(owner, name, { ...fixed, value } as PropertyDescriptor)
}

function remove(owner: object, ...names: readonly string[]): void {
  for (const name of names)
    if (!Reflect.deleteProperty(owner, name)) throw new Error(`${name} cannot be taken away`)
}
