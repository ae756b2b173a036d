/**
 * How a bundle gets Node's own modules. An import reads every export of a module, and some exports load further modules when
 * they are read; `process.getBuiltinModule` reads only what is named. Modules that many runs do not need are loaded by the first
 * call of one of their functions.
 */
import { parse } from 'acorn'
import type { ImportDeclaration, ImportSpecifier } from 'acorn'

/** Loading all of them takes half as long as an empty script. */
const loadedByCalls: readonly string[] = [
  'node:crypto',
  'node:dns/promises',
  'node:fs/promises',
  'node:stream/promises',
  'node:v8',
  'node:worker_threads',
  'node:zlib',
]

export function nameBuiltinModules(code: string): string {
  const { body } = parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true })
  return body
    .filter((one) => one.type === 'ImportDeclaration')
    .filter(({ source, specifiers }) => String(source.value).startsWith('node:') && specifiers.length > 0)
    .toReversed()
    .reduce((text, one) => `${text.slice(0, one.start)}${declare(one)}${text.slice(one.end)}`, code)
}

function declare({ source, specifiers }: ImportDeclaration): string {
  const module = `process.getBuiltinModule(${JSON.stringify(source.value)})`
  const named = specifiers.filter((one) => one.type === 'ImportSpecifier')
  const whole = specifiers.filter((one) => one.type !== 'ImportSpecifier')
  const isLate = whole.length === 0 && isLoadedByCalls(String(source.value), named.map(nameOf))
  return [
    ...whole.map(({ local }) => `const ${local.name} = ${module};`),
    ...(isLate ? named.map((one) => declareLate(one, module)) : []),
    ...(isLate || named.length === 0 ? [] : [`const { ${named.map(describe).join(', ')} } = ${module};`]),
  ].join('\n')
}

/** Exports that are not functions, such as `workerData`, have to be read at once. */
function isLoadedByCalls(module: string, names: readonly string[]): boolean {
  if (!loadedByCalls.includes(module)) return false
  const real = process.getBuiltinModule(module) as unknown as Readonly<Record<string, unknown>>
  return names.every((name) => typeof real[name] === 'function')
}

const describe = (one: ImportSpecifier): string => `${nameOf(one)}: ${one.local.name}`

/**
 * A function declaration, because it exists before the chunk's first statement runs. Its first call replaces it by the
 * real function.
 */
function declareLate(one: ImportSpecifier, module: string): string {
  const { name } = one.local
  const real = `${name} = ${module}.${nameOf(one)}`
  return `function ${name}(...given) { ${real}; return new.target ? new ${name}(...given) : ${name}(...given) }`
}

function nameOf({ imported }: ImportSpecifier): string {
  return imported.type === 'Identifier' ? imported.name : String(imported.value)
}
