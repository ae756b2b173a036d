/** The names of a Node: its globals, its modules, and all names of their members. As a program it prints them. */
import { builtinModules } from 'node:module'

export interface NodeNames {
  readonly version: string
  readonly globals: readonly string[]
  /** The members of each global, such as `try` of `Promise`. */
  readonly members: Readonly<Record<string, readonly string[]>>
  /** The exports of each module, by its name without `node:`. */
  readonly modules: Readonly<Record<string, readonly string[]>>
  /** All names, including those of prototypes. */
  readonly names: readonly string[]
}

export function listNodeNames(): NodeNames {
  const globals = Object.getOwnPropertyNames(globalThis).sort()
  const names = new Set<string>()
  // Environment variables are not Node's.
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

/** Objects that no global leads to: iterators of every kind, async functions and generators. */
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

/** Includes inherited names, such as `of` of typed arrays. */
function namesOnChain(one: unknown): string[] {
  const found: string[] = []
  for (let at = one; at !== null && at !== undefined; at = Object.getPrototypeOf(at))
    found.push(...namesOf(at))
  return [...new Set(found)].toSorted()
}

/** Undefined if a getter throws because of its `this`. */
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
