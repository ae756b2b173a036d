/**
 * Traverses the snippet engine's objects from inside: everything that a program can reach, from the global object and
 * one sample of each kind of value that syntax creates, through properties, symbols, prototypes and accessors.
 */

/** Source for a program: `walk()` maps each object to the path on which it was first found. */
export const walkSource = `
const walk = (() => {
  const { getOwnPropertyDescriptor, getPrototypeOf } = Object
  const { ownKeys } = Reflect
  const callSite = (() => {
    Error.prepareStackTrace = (error, sites) => sites
    try { return new Error('x').stack[0] } finally { Error.prepareStackTrace = undefined }
  })()
  const samples = {
    global: globalThis,
    function: function () {}, arrow: () => {}, class: class {}, bound: (() => {}).bind(),
    generatorFunction: function* () {}, generator: (function* () {})(),
    asyncFunction: async function () {}, asyncArrow: async () => {}, asyncGeneratorFunction: async function* () {},
    imported: import('x'),
    sloppyArguments: (function () { return arguments })(1),
    strictArguments: (function () { 'use strict'; return arguments })(1),
    template: ((strings) => strings)\`x\`,
    regexp: /x/, match: /(?<name>x)/d.exec('x'), error: new Error('x'), callSite, proxy: new Proxy({}, {}),
    revocable: Proxy.revocable({}, {}),
    arrayIterator: [].values(), mapIterator: new Map().keys(), setIterator: new Set().keys(),
    stringIterator: ''[Symbol.iterator](), regexpIterator: ''.matchAll(/x/g), iteratorHelper: [].values().map((x) => x),
    wrappedIterator: Iterator.from({ next() {} }), concatenated: Iterator.concat?.([]),
  }
  return () => {
    const paths = new Map()
    const found = []
    const visit = (value, path) => {
      const isThing = (typeof value === 'object' && value !== null) || typeof value === 'function'
      if (!isThing || paths.has(value)) return
      paths.set(value, path)
      found.push(value)
    }
    for (const name in samples) visit(samples[name], name)
    for (let at = 0; at < found.length; at++) {
      const value = found[at], path = paths.get(value)
      for (const key of ownKeys(value)) {
        const own = path + (typeof key === 'symbol' ? '[' + key.description + ']' : '.' + key)
        const property = getOwnPropertyDescriptor(value, key)
        visit(property.value, own); visit(property.get, own + ' get'); visit(property.set, own + ' set')
      }
      visit(getPrototypeOf(value), path + ' prototype')
    }
    return paths
  }
})()
`

/** Emits for each object a line with its path, kind and prototype, and a line for each property. */
export const describeGraphSource = `${walkSource}
const paths = walk()
const isThing = (value) => paths.has(value)
const isPlainFunction = (value) =>
  typeof value === 'function' && Object.getPrototypeOf(value) === Function.prototype &&
  Reflect.ownKeys(value).map(String).join() === 'length,name'
const kindOf = (value) => {
  if (typeof value === 'function') return isPlainFunction(value) ? '()' : ' -> ' + paths.get(value)
  return isThing(value) ? ' -> ' + paths.get(value) : ''
}
for (const [value, path] of paths) {
  // The line of the property that holds it is enough.
  if (isPlainFunction(value)) continue
  const prototype = Object.getPrototypeOf(value)
  emit(path + ': ' + typeof value + ' of ' + (prototype === null ? 'nothing' : paths.get(prototype)) + '\\n')
  for (const key of Reflect.ownKeys(value)) {
    const name = typeof key === 'symbol' ? '[' + key.description + ']' : key
    const { get, set, value: plain } = Object.getOwnPropertyDescriptor(value, key)
    const accessors = [get && 'get', set && 'set'].filter(Boolean).join(' ')
    emit('  ' + (accessors ? accessors + ' ' : '') + name + (accessors ? '' : kindOf(plain)) + '\\n')
  }
}
`
