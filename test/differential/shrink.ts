/** Makes a generated program smaller, and says how to run it again. */
import { inspect } from 'node:util'

import { assemble, partsNamed } from './generate.ts'
import type { Part } from './generate.ts'
import { explain, runEverywhere } from './judge.ts'
import type { Finding } from './judge.ts'
import type { Ways } from './ways.ts'

/** The same difference with as few parts as show it; unchanged if the program is none of the generator. */
export async function shrink(opened: Ways, finding: Finding): Promise<Finding> {
  const { program, way, field } = finding
  const { engine, name } = program
  const all = partsNamed(engine, name)
  if (all === undefined) return finding
  let parts = all
  let smallest = finding
  for (const part of all) {
    const fewer: readonly Part[] = parts.filter((one) => one !== part)
    const { findings } = await runEverywhere(opened, assemble(engine, name, fewer), [way])
    const same = findings.find((one) => one.field === field && explain(one).length === 0)
    if (same === undefined) continue
    parts = fewer
    smallest = same
  }
  return smallest
}

/** The finding as text: where, the smallest program, both results, and the command. */
export function describeFinding({ program, way, field, expected, got }: Finding): string {
  const { code, ...request } = program.request
  const show = (value: unknown): string =>
    inspect(value, { breakLength: 110, depth: 8, maxStringLength: 2000 })
  return [
    `${program.engine}, ${way}, ${field}: ${program.name}`,
    code.replaceAll(/^/gm, '    '),
    `  request  ${show(request)}`,
    `  cold     ${show(expected)}`,
    `  ${way.padEnd(8)} ${show(got)}`,
    `  again    npm run differ -- --engine ${program.engine} --only '${program.name.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n')
}
