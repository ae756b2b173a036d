/**
 * Replaces `eval` and the constructors of functions with wrappers that can be disabled. Libraries that are loaded
 * before the program may still use them. They are disabled before the program starts. V8's own switch has no effect in
 * these isolates.
 */
import { defineProperty, getPrototypeOf } from '../../../core/primordials.ts'
import { refuse } from './security.ts'

type Maker = new (...code: string[]) => (...values: unknown[]) => unknown

const { construct } = Reflect
// oxlint-disable-next-line no-eval -- kept for programs, which run in an isolate made for this purpose
const nativeEval = eval
const makerOf = (example: object): Maker => (getPrototypeOf(example) as { constructor: Maker }).constructor

/** The program cannot reach these, only the wrappers. */
const NativeFunction = makerOf(() => {})
const NativeAsyncFunction = makerOf(async () => {})
const NativeGenerator = makerOf(function* () {})
const NativeAsyncGenerator = makerOf(async function* () {})

let isClosed = false

export function gateCodeMakers(): void {
  const makers = [NativeFunction, NativeAsyncFunction, NativeGenerator, NativeAsyncGenerator] as const
  const gates = makers.map((maker) => createGate(maker))
  const OwnFunction = gates[0] as object
  for (const gate of gates.slice(1)) Object.setPrototypeOf(gate, OwnFunction)
  defineGlobal('Function', OwnFunction)
  defineGlobal('eval', evalGate.eval)
}

export function closeGates(): void {
  isClosed = true
}

/** Creates a function from the program's body. V8 parses the body separately, so it cannot close the function early. */
export const createAsyncFunction = (parameters: string, body: string): ((...values: unknown[]) => unknown) =>
  new NativeAsyncFunction(parameters, body)

export const createFunction = (parameters: string, body: string): ((...values: unknown[]) => unknown) =>
  new NativeFunction(parameters, body)

/** Runs code in the global scope, and returns the completion value. */
export const evaluateScript = (text: string): unknown => nativeEval(text)

/** A method, because methods have no prototype. */
const evalGate = {
  eval(code: unknown): unknown {
    if (isClosed) throw refuse('eval()')
    return nativeEval(code as string)
  },
}

function createGate(Native: Maker): object {
  const { name, prototype } = Native as Maker & { readonly prototype: object }
  const gate = function (this: unknown, ...code: string[]): unknown {
    if (isClosed) throw refuse(`${name}()`)
    const target = new.target === undefined || (new.target as unknown) === gate ? Native : new.target
    return construct(Native, code, target)
  }
  const fixed = { __proto__: null, writable: false, enumerable: false, configurable: false }
  defineProperty(gate, 'name', { ...fixed, value: name } as PropertyDescriptor)
  defineProperty(gate, 'length', { ...fixed, value: 1 } as PropertyDescriptor)
  defineProperty(gate, 'prototype', { ...fixed, value: prototype } as PropertyDescriptor)
  defineProperty(prototype, 'constructor', { ...fixed, value: gate } as PropertyDescriptor)
  return gate
}

function defineGlobal(name: string, value: unknown): void {
  defineProperty(globalThis, name, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
  } as PropertyDescriptor)
}
