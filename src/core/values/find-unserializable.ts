/**
 * Searches an encoded value for parts that could not cross. It also runs inside the cell, so it uses captured built-ins
 * only.
 */
import { stringIndexOf, stringSlice } from '../primordials.ts'

// Quotes inside JSON strings are escaped, so neither text can occur in one.
const tag = '{"$type":"Unserializable"'
/** Precedes the fields of a plain object that happens to look like a tag. */
const escape = '{"$type":"Object","value":'
const textStart = ',"text":'

const parse = JSON.parse as (json: string) => string

/** The description of the first part that could not cross; `undefined` if there is none. */
export function findUnserializable(json: string): string | undefined {
  for (let at = stringIndexOf(json, tag, 0); at >= 0; at = stringIndexOf(json, tag, at + 1)) {
    if (at >= escape.length && stringSlice(json, at - escape.length, at) === escape) continue
    const start = at + tag.length + textStart.length
    let end = start + 1
    while (end < json.length && json[end] !== '"') end += json[end] === '\\' ? 2 : 1
    return parse(stringSlice(json, start, end + 1))
  }
  return undefined
}
