/**
 * Makes the harness's own realm lead nowhere. It hands no object of its own to a bare realm, but an engine that runs
 * out of stack on the way to a function of the harness's makes its error in the harness's realm, and guest code can
 * arrange for that. From such an error the way would go over `toString` to the prototype of all functions, over
 * `valueOf` of the prototype of everything to those of strings and arrays, and over a constructor to any code. So
 * errors end in prototypes that hold no function, inherit nothing and cannot be changed; and an undiscovered way leads
 * to an object without a constructor.
 */
const { freeze, getOwnPropertyDescriptors, getPrototypeOf, preventExtensions, setPrototypeOf } = Object
let isCut = false

/**
 * Takes half a millisecond, because it invalidates the engine's assumptions. So it is done once, and ahead of the run
 * if possible.
 */
export function cutDeadEnds(): void {
  if (isCut) return
  isCut = true
  for (const prototype of errorPrototypes()) empty(prototype)
  // What is an error for the harness stays one: only this prototype is the end of theirs.
  setPrototypeOf(Error.prototype, null)
  for (const prototype of errorPrototypes()) freeze(prototype)
  for (const prototype of makerPrototypes()) {
    Reflect.deleteProperty(prototype, 'constructor')
    // A getter there would receive objects that lack the property.
    preventExtensions(prototype)
  }
}

/** What is left are the texts that every error has. */
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

/** The prototypes of all objects, and of the functions that create code. */
function makerPrototypes(): object[] {
  const functions = [() => {}, async () => {}, function* () {}, async function* () {}]
  return [Object.prototype, ...functions.map((each) => getPrototypeOf(each) as object)]
}
