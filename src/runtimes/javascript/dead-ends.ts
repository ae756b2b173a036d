/**
 * Makes the harness's own realm lead nowhere. It hands no object of its own to a bare realm, but an engine that runs out of
 * stack on the way to a function of the harness's makes its error in the harness's realm, and guest code can arrange for
 * that. From an object the way goes over its constructor to the constructor of all functions, and so to any code.
 */
const { getPrototypeOf, preventExtensions } = Object
let isCut = false

/** Half a millisecond, because an engine has to forget what it took for granted: once, and ahead where that can be. */
export function cutConstructors(): void {
  if (isCut) return
  isCut = true
  for (const prototype of prototypes()) {
    Reflect.deleteProperty(prototype, 'constructor')
    // A getter there would be told of objects that lack what it stands for.
    preventExtensions(prototype)
  }
}

/** Of errors, of everything, and of the functions that can make code. */
function prototypes(): object[] {
  const errors = [
    Error,
    AggregateError,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
    Reflect.get(globalThis, 'SuppressedError') as { readonly prototype: Error } | undefined,
  ]
  const functions = [() => {}, async () => {}, function* () {}, async function* () {}]
  return [
    Object.prototype,
    ...functions.map((each) => getPrototypeOf(each) as object),
    ...errors.flatMap((each) => (each === undefined ? [] : [each.prototype])),
  ]
}
