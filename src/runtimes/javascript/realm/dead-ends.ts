/**
 * Keeps guest code in a bare realm from reaching the harness's realm through an error. The harness passes no object of its
 * own to a bare realm. But if the stack overflows during a call of a harness function, the engine creates the error in the
 * harness's realm, and guest code can provoke that. From such an error, `toString` would lead to the prototype of all
 * functions, `valueOf` of `Object.prototype` to the prototypes of strings and arrays, and a constructor to arbitrary code.
 * So the prototypes of errors get no functions, no parent, and are frozen. If there is an undiscovered path, it leads to
 * objects without a constructor.
 */
const { freeze, getOwnPropertyDescriptors, getPrototypeOf, preventExtensions, setPrototypeOf } = Object
let isCut = false

/**
 * Takes half a millisecond, because it invalidates optimizations of the engine. So it happens only once, and before the run
 * if possible.
 */
export function cutDeadEnds(): void {
  if (isCut) return
  isCut = true
  for (const prototype of errorPrototypes()) empty(prototype)
  // `instanceof Error` still works in the harness: other errors inherit from this prototype, which now inherits nothing.
  setPrototypeOf(Error.prototype, null)
  for (const prototype of errorPrototypes()) freeze(prototype)
  for (const prototype of constructorPrototypes()) {
    Reflect.deleteProperty(prototype, 'constructor')
    // A getter added there would be called with objects of the harness.
    preventExtensions(prototype)
  }
}

/** Deletes all properties except strings, that is, `name` and `message`. */
function empty(prototype: object): void {
  for (const [name, { value }] of Object.entries(getOwnPropertyDescriptors(prototype)))
    if (typeof value !== 'string') Reflect.deleteProperty(prototype, name)
}

function errorPrototypes(): object[] {
  const suppressed = Reflect.get(globalThis, 'SuppressedError') as { readonly prototype: Error } | undefined
  const errors = [
    Error,
    AggregateError,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
  ]
  return [...errors, ...(suppressed === undefined ? [] : [suppressed])].map(({ prototype }) => prototype)
}

/** The prototypes whose constructors create objects or functions from code. */
function constructorPrototypes(): object[] {
  const functions = [() => {}, async () => {}, function* () {}, async function* () {}]
  return [Object.prototype, ...functions.map((each) => getPrototypeOf(each) as object)]
}
