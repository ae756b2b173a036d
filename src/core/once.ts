/** A lazy value: made on first use, then kept. Many runs never need it. */
export function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}
