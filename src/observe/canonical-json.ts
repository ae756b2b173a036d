/**
 * One text for each value, so that hashes and signatures of it are well defined: JSON as RFC 8785 (JCS) writes it. Keys
 * are sorted by their UTF-16 code units; there is no space between tokens; numbers and strings are written as
 * JSON.stringify does, as the RFC requires. A key whose value is undefined is left out. Two things differ from the RFC:
 * a lone surrogate is written as an escape instead of refused, and nesting has a bound.
 */

/** Records have six levels. */
const depthMax = 64

/** Throws a TypeError for what JSON cannot hold. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > depthMax) throw new TypeError(`More than ${depthMax} levels of nesting.`)
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value)
      break
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return `[${value.map((one) => canonicalJson(one, depth + 1)).join(',')}]`
      return writeObject(value as Record<string, unknown>, depth)
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      break
  }
  throw new TypeError(`JSON cannot hold ${typeof value === 'number' ? String(value) : `a ${typeof value}`}.`)
}

function writeObject(value: Record<string, unknown>, depth: number): string {
  let members = ''
  for (const key of Object.keys(value).sort()) {
    const member = value[key]
    if (member === undefined) continue
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member, depth + 1)}`
  }
  return `{${members}}`
}
