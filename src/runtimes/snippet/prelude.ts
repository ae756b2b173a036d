/**
 * The source of a script that runs in a VM before the program. It creates the two bindings, and removes everything that
 * snippets do not promise. It evaluates to a function that tells the host whether an error means that memory ran out. It
 * must not look up anything at run time that the program can replace.
 */
export const preludeName = '<bindings>'

export const prelude = `(function (write, read) {
  'use strict'
  const { defineProperty, getPrototypeOf, getOwnPropertyDescriptor } = Object
  const { apply } = Reflect
  const { concat, slice, startsWith } = String.prototype
  const [OutOfMemory, NoSyntax] = [InternalError, SyntaxError]

  // Only the host may compile strings: removes eval, and replaces all four constructors of functions.
  const refused = function Function() {
    throw new EvalError('code cannot be compiled from strings here')
  }
  defineProperty(refused, 'prototype', { value: Function.prototype, writable: false })
  for (const sample of [refused, function* () {}, async function () {}, async function* () {}]) {
    const prototype = getPrototypeOf(sample)
    if (prototype !== null) defineProperty(prototype, 'constructor', { value: refused })
  }
  defineProperty(globalThis, 'Function', { value: refused })
  // Without its constructor, only the engine can create such an error, which means that memory ran out.
  delete OutOfMemory.prototype.constructor
  for (const name of ['eval', 'queueMicrotask', 'SharedArrayBuffer', 'InternalError']) delete globalThis[name]
  delete Array.fromAsync

  // Passes long text in parts: a copy of the whole text would take as much of the program's memory again.
  const partLength = 65536
  const bindings = {
    emit(text) {
      if (arguments.length === 0) return
      // A template literal would call the program's own 'concat', if it has one.
      const whole = apply(concat, '', [text])
      for (let at = 0; at < whole.length; at += partLength)
        // A string that cannot be copied for lack of memory arrives as another one. The '!' shows that this one arrived.
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
    // The compiler of regular expressions reports it as a syntax error.
    return prototype === OutOfMemory.prototype || (prototype === NoSyntax.prototype && message === 'out of memory')
  }
})`
