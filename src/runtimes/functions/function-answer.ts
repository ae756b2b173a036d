/**
 * The message of the guest's error if a function's result cannot be sent. It names the function and the part at fault.
 */
import { findUnserializable } from '../../core/values/find-unserializable.ts'

const pathLengthMax = 200
/**
 * A guest can send a value that cannot go back, among a million others. Reading a longer result again, to find the part, would
 * block the event loop for seconds.
 */
const searchedLengthMax = 128 * 1024

const parse = JSON.parse as (json: string) => unknown

/**
 * Describes the first part of a result that could not be encoded, and in a short result says where it is. `undefined` if
 * there is none.
 */
export function describeUnsendable(name: string, json: string): string | undefined {
  const text = findUnserializable(json)
  if (text === undefined) return undefined
  const path = json.length > searchedLengthMax ? undefined : findPath(parse(json), text)
  const place = path === undefined || path === '' || path.length > pathLengthMax ? '' : `\`${path}\` is `
  return `What '${name}' returned cannot be sent: ${place}${text}`
}

/**
 * The path to the value with this text through plain objects and arrays. A value in a Map or a Set has no simple path. The
 * encoder bounds the depth.
 */
function findPath(node: unknown, text: string): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  const type = Object.hasOwn(node, '$type') ? Reflect.get(node, '$type') : undefined
  if (type === 'Unserializable') return Reflect.get(node, 'text') === text ? '' : undefined
  const fields: unknown = type === 'Object' ? Reflect.get(node, 'value') : node
  if (type !== undefined && type !== 'Object') return undefined
  for (const [key, child] of Object.entries(fields as object)) {
    const rest = findPath(child, text)
    if (rest !== undefined) return writeStep(key, Array.isArray(fields)) + rest
  }
  return undefined
}

function writeStep(key: string, isIndex: boolean): string {
  if (isIndex) return `[${key}]`
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
