/**
 * Removes globals from an isolate before any other code runs there: those that allocate memory that isolated-vm does not
 * count, that reach other threads, or that sleep.
 */
import { defineProperty, getOwnPropertyDescriptor } from '../../../core/primordials.ts'

const { construct } = Reflect
const NativeArrayBuffer = ArrayBuffer
const fixed = { __proto__: null, writable: false, enumerable: false, configurable: false }

/** Removes V8's own console, which the harness replaces, and access to memory that is not counted. */
export function cutEnvironment(): void {
  remove(globalThis, 'console')
  fixArrayBuffers()
}

/** Runs when an isolate opens, because the realm of the snapshot lacks most of these. */
export function cutLateEnvironment(): void {
  // A test lists all remaining names, so that it detects those that a new engine adds.
  remove(globalThis, 'WebAssembly', 'SharedArrayBuffer', 'ShadowRealm', 'gc')
  // They wait for other threads, which do not exist here.
  remove(Atomics, 'wait', 'waitAsync', 'notify', 'pause')
}

/** Prevents resizable buffers, which escape the memory limit. */
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
  // The engine's getter can be kept, because it returns its `this`.
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
    if (!Reflect.deleteProperty(owner, name)) throw new Error(`${name} cannot be deleted`)
}
