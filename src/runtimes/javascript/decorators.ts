/** What oxc's output calls for decorators with TypeScript's `experimentalDecorators` meaning. */
type Decorator = (target: unknown, key?: unknown, descriptor?: unknown) => unknown

const { getOwnPropertyDescriptor, defineProperty } = Object

export function installDecoratorHelpers(): void {
  const value = { decorate, decorateParam, decorateMetadata }
  defineProperty(globalThis, 'babelHelpers', { value, writable: true, enumerable: false, configurable: true })
}

/** Two arguments: a class. Four: a member; a descriptor of `null` means to look it up, `undefined` that it is a field. */
function decorate(
  decorators: readonly Decorator[],
  target: object,
  key?: string | symbol,
  descriptor?: unknown,
): unknown {
  const isMember = key !== undefined
  let result: unknown =
    isMember && descriptor === null ? getOwnPropertyDescriptor(target, key) : isMember ? descriptor : target
  for (let index = decorators.length - 1; index >= 0; index--) {
    const decorator = decorators[index] as Decorator
    result = (isMember ? decorator(target, key, result) : decorator(result)) || result
  }
  if (isMember && result) defineProperty(target, key, result)
  return result
}

const decorateParam =
  (index: number, decorator: Decorator): Decorator =>
  (target, key) =>
    decorator(target, key, index)

/** Does something only where the guest has loaded a metadata library such as reflect-metadata. */
function decorateMetadata(key: unknown, value: unknown): Decorator | undefined {
  const metadata: unknown = Reflect.get(Reflect, 'metadata')
  return typeof metadata === 'function' ? (metadata(key, value) as Decorator) : undefined
}
