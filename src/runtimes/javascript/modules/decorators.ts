/** The helper functions that oxc's output calls for decorators with TypeScript's `experimentalDecorators` semantics. */
type Decorator = (target: unknown, key?: unknown, descriptor?: unknown) => unknown

const { getOwnPropertyDescriptor, defineProperty } = Object

export function installDecoratorHelpers(): void {
  const value = { decorate, decorateParam, decorateMetadata }
  defineProperty(globalThis, 'babelHelpers', { value, writable: true, enumerable: false, configurable: true })
}

/**
 * Called with a class, or with a member's owner, key and descriptor. The descriptor `null` means that it must be looked up;
 * `undefined` means that there is none, because the member is a field.
 */
function decorate(
  decorators: readonly Decorator[],
  target: object,
  ...member: [key?: PropertyKey, found?: unknown]
): unknown {
  const [key, found] = member
  if (key === undefined) return apply(decorators, (decorator, result) => decorator(result), target)
  const before = found === null ? getOwnPropertyDescriptor(target, key) : found
  const after = apply(decorators, (decorator, result) => checked(decorator(target, key, result), key), before)
  if (after) defineProperty(target, key, after)
  return after
}

/** Applies decorators from the innermost to the outermost. One that returns nothing changes nothing. */
function apply(
  decorators: readonly Decorator[],
  call: (decorator: Decorator, result: unknown) => unknown,
  start: unknown,
): unknown {
  let result = start
  for (let index = decorators.length - 1; index >= 0; index--)
    result = call(decorators[index] as Decorator, result) || result
  return result
}

/** Decorators of the ECMAScript proposal return a function. TypeScript would silently ignore it. */
function checked(returned: unknown, key: PropertyKey): unknown {
  if (typeof returned !== 'function') return returned
  throw new TypeError(
    `The decorator of '${String(key)}' returned a function. Decorators have TypeScript's experimentalDecorators meaning here: they are called with (target, key, descriptor), and return a property descriptor or nothing.`,
  )
}

/** Ignores what the decorator returns. */
const decorateParam =
  (index: number, decorator: Decorator): Decorator =>
  (target, key) =>
    void decorator(target, key, index)

/** Has an effect only if the guest has loaded a metadata library such as reflect-metadata. */
function decorateMetadata(key: unknown, value: unknown): Decorator | undefined {
  const metadata: unknown = Reflect.get(Reflect, 'metadata')
  return typeof metadata === 'function' ? (metadata(key, value) as Decorator) : undefined
}
