/**
 * Tells kinds of built-in objects by their tags, where the platform offers nothing better: in a browser, whose values
 * are not hostile.
 */

const isOf =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    names.includes(Object.prototype.toString.call(value).slice('[object '.length, -1))

export const kindsByTag = {
  isAnyArrayBuffer: isOf('ArrayBuffer', 'SharedArrayBuffer'),
  isBigIntObject: isOf('BigInt'),
  isBooleanObject: isOf('Boolean'),
  isDataView: isOf('DataView'),
  isDate: isOf('Date'),
  isMap: isOf('Map'),
  isNativeError: isOf('Error'),
  isNumberObject: isOf('Number'),
  isRegExp: isOf('RegExp'),
  isSet: isOf('Set'),
  isStringObject: isOf('String'),
  isTypedArray: (value: unknown): boolean => ArrayBuffer.isView(value) && !kindsByTag.isDataView(value),
}
