/**
 * What runs in a VM before the program does: it makes the two bindings, and takes out what is not part of the promise.
 * It is text, for the engine inside. Its result is two functions for the host, which the program cannot reach.
 */
export const preludeName = '<bindings>'

export const prelude = `(function (write, read) {
  'use strict'
  const { defineProperty, getPrototypeOf, getOwnPropertyDescriptor } = Object
  const { apply } = Reflect
  const { slice, startsWith } = String.prototype
  const OutOfMemory = InternalError

  // The engine compiles strings for the host alone: its own functions for that go, and with them all four constructors.
  const refused = function Function() {
    throw new EvalError('code cannot be compiled from strings here')
  }
  defineProperty(refused, 'prototype', { value: Function.prototype, writable: false })
  for (const sample of [refused, function* () {}, async function () {}, async function* () {}]) {
    const prototype = getPrototypeOf(sample)
    if (prototype !== null) defineProperty(prototype, 'constructor', { value: refused })
  }
  defineProperty(globalThis, 'Function', { value: refused })
  // Nobody but the engine makes an error of this kind: it says that memory ran out.
  delete OutOfMemory.prototype.constructor
  for (const name of ['eval', 'queueMicrotask', 'SharedArrayBuffer', 'InternalError']) delete globalThis[name]
  delete Array.fromAsync

  let lengthMax = 0
  const bindings = {
    emit(text) {
      if (arguments.length === 0) return
      const whole = \`\${text}\`
      // What is longer passes the cap whatever its characters are, and need not cross.
      const part = whole.length > lengthMax ? apply(slice, whole, [0, lengthMax]) : whole
      if (!write(part, part === '<null>')) throw new OutOfMemory('out of memory')
    },
    read_input() {
      const text = read()
      if (text === undefined) throw new OutOfMemory('out of memory')
      return text
    },
  }
  for (const name of ['emit', 'read_input'])
    defineProperty(globalThis, name, { value: bindings[name], writable: true, configurable: true })

  return {
    setLengthMax(value) {
      lengthMax = value
    },
    isOutOfMemory(thrown) {
      if (typeof thrown !== 'object' || thrown === null) return false
      if (getPrototypeOf(thrown) !== OutOfMemory.prototype) return false
      const message = getOwnPropertyDescriptor(thrown, 'message')?.value
      return typeof message === 'string' && apply(startsWith, message, ['out of memory'])
    },
  }
})`
