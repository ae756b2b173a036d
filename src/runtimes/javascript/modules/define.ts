import { defineProperty } from '../../../core/primordials.ts'

/** Sets a property that the program may overwrite and that no list of properties shows. */
export function define(owner: object, name: string, value: unknown): void {
  defineProperty(owner, name, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
  } as PropertyDescriptor)
}
