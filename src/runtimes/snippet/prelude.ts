/**
 * What runs in a VM before the program does: it creates the two bindings, and removes everything that snippets do not
 * promise. It is text, for the engine inside. Its result is a function for the host: whether an error says that memory
 * ran out. Nothing in it may look up what the program can replace.
 */
export const preludeName = '<bindings>'

export const prelude = `(function (write, read) {
  'use strict'
  const { defineProperty, getPrototypeOf, getOwnPropertyDescriptor } = Object
  const { apply } = Reflect
  const { concat, slice, startsWith } = String.prototype
  const [OutOfMemory, NoSyntax] = [InternalError, SyntaxError]

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
  // Only the engine creates an error of this kind: it says that memory ran out.
  delete OutOfMemory.prototype.constructor
  for (const name of ['eval', 'queueMicrotask', 'SharedArrayBuffer', 'InternalError']) delete globalThis[name]
  delete Array.fromAsync

  // Long text crosses in parts: as a whole it would need its memory once more, and the program has that.
  const partLength = 65536
  const bindings = {
    emit(text) {
      if (arguments.length === 0) return
      // A template would look up the program's own 'concat', and call it.
      const whole = apply(concat, '', [text])
      for (let at = 0; at < whole.length; at += partLength)
        // The mark says that it has arrived, for a string that cannot be copied arrives as another one.
        if (!write('!' + apply(slice, whole, [at, at + partLength]))) throw new OutOfMemory('out of memory')
    },
    read_input() {
      const text = read()
      if (text === undefined) throw new OutOfMemory('out of memory')
      return text
    },
  }
  for (const name of ['emit', 'read_input'])
    defineProperty(globalThis, name, { value: bindings[name], writable: true, configurable: true })

  return function isOutOfMemory(error) {
    const message = getOwnPropertyDescriptor(error, 'message')?.value
    if (typeof message !== 'string' || !apply(startsWith, message, ['out of memory'])) return false
    const prototype = getPrototypeOf(error)
    // The compiler of regular expressions says it as if their syntax were wrong.
    return prototype === OutOfMemory.prototype || (prototype === NoSyntax.prototype && message === 'out of memory')
  }
})`
