/** What a Node has: its globals, its modules, and every name that hangs on them. Run as a program it prints them. */
import { builtinModules } from 'node:module'

export interface NodeNames {
  readonly version: string
  readonly globals: readonly string[]
  /** What hangs on a global itself, such as `try` on `Promise`. */
  readonly members: Readonly<Record<string, readonly string[]>>
  /** What each module exports, by its name without `node:`. */
  readonly modules: Readonly<Record<string, readonly string[]>>
  /** All of these, and what hangs on prototypes. */
  readonly names: readonly string[]
}

export function listNodeNames(): NodeNames {
  const globals = Object.getOwnPropertyNames(globalThis).sort()
  const names = new Set<string>()
  // Variables are of whoever started this.
  const seen = new Set<object>([process.env])
  const members = Object.fromEntries(globals.map((name) => [name, namesOnChain(read(globalThis, name))]))
  for (const name of globals) gather(read(globalThis, name), { names, seen, depth: 3 })
  for (const made of hidden()) gather(made, { names, seen, depth: 2 })
  const modules: Record<string, readonly string[]> = {}
  for (const name of builtinModules.filter((one) => !one.startsWith('_')).toSorted()) {
    const module: unknown = process.getBuiltinModule(name)
    modules[name.replace(/^node:/, '')] = namesOf(module)
    gather(module, { names, seen, depth: 3 })
  }
  return { version: process.versions.node, globals, members, modules, names: [...names].sort() }
}

/** What no global leads to: iterators of every kind, and functions that are not only functions. */
function hidden(): unknown[] {
  const made = [
    new Error('made'),
    [].values(),
    new Map().values(),
    new Set().values(),
    ''.matchAll(/a/g),
    [].values().map(String),
  ]
  const functions = [async () => {}, function* () {}, async function* () {}]
  return [...made, ...functions].flatMap((one) => [one, Object.getPrototypeOf(one), read(one, 'prototype')])
}

interface Gathering {
  readonly names: Set<string>
  readonly seen: Set<object>
  readonly depth: number
}

function gather(one: unknown, { names, seen, depth }: Gathering): void {
  if ((typeof one !== 'object' && typeof one !== 'function') || one === null || seen.has(one)) return
  seen.add(one)
  for (const name of namesOf(one)) {
    names.add(name)
    if (depth > 0) gather(read(one, name), { names, seen, depth: depth - 1 })
  }
  gather(Object.getPrototypeOf(one), { names, seen, depth })
}

function namesOf(one: unknown): string[] {
  if ((typeof one !== 'object' && typeof one !== 'function') || one === null) return []
  return Object.getOwnPropertyNames(one)
    .filter((name) => /^[A-Za-z_$][\w$]*$/.test(name))
    .sort()
}

/** With what it inherits, as typed arrays do their `of`. */
function namesOnChain(one: unknown): string[] {
  const found: string[] = []
  for (let at = one; at !== null && at !== undefined; at = Object.getPrototypeOf(at))
    found.push(...namesOf(at))
  return [...new Set(found)].toSorted()
}

/** A getter may want another `this`, and an old name may warn that it is old. */
function read(one: unknown, name: string): unknown {
  const found = Object.getOwnPropertyDescriptor(Object(one), name)
  if (found?.get === undefined) return found?.value
  try {
    const value: unknown = Reflect.get(Object(one), name)
    if (value instanceof Promise) value.catch(() => undefined)
    return value
  } catch {
    return undefined
  }
}

if (process.argv[1] === import.meta.filename) process.stdout.write(`${JSON.stringify(listNodeNames())}\n`)
