/** A value that is made when it is first needed, and then kept: many runs need none of it. */
export function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}
