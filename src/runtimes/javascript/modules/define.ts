import { defineProperty } from '../../../core/primordials.ts'

/** Defines a non-enumerable property that the program may overwrite. */
export function define(owner: object, name: string, value: unknown): void {
  defineProperty(owner, name, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
  } as PropertyDescriptor)
}
