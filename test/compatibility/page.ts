/** The generated parts of docs/reference/compatibility.md: the lines below each of its headings, without the prose. */
import {
  dailyModules,
  deepModules,
  plainUserModules,
  wideModules,
  regressionDifferences,
} from '../conformance/python/regression-modules.ts'
import { bunOnly } from './bun-only.ts'
import { databases } from './databases.ts'
import { everyday } from './javascript.ts'
import { nodeOnly } from './node-only.ts'
import { optionWalls } from './option-walls.ts'
import type { CompatibilityProgram } from './program.ts'
import { pythonPrograms } from './python-programs.ts'
import { shellDevelopment } from './shell-development.ts'
import { shellPrograms } from './shell-programs.ts'
import { walls } from './walls.ts'

/** The parts of a program that a row shows. */
type Row = Pick<CompatibilityProgram, 'title' | 'differs'>

const areas: Readonly<Record<string, readonly Row[]>> = {
  'Node and Bun': everyday,
  Node: nodeOnly,
  Bun: bunOnly,
  'Shell and tools': shellPrograms,
  'Development tools': shellDevelopment,
  'Databases in a sandbox': databases,
  Python: [...pythonPrograms, ...walls, ...optionWalls],
}

/** Heading → lines. */
export function listSections(): ReadonlyMap<string, readonly string[]> {
  return new Map([
    ...Object.entries(areas).map(([area, programs]) => [area, listSame(programs)] as const),
    ['What differs', listDifferences(Object.values(areas).flat())],
    ["CPython's own tests", listModules()],
    ['Which of them differ', listModuleDifferences()],
  ])
}

function listSame(programs: readonly Row[]): string[] {
  return programs.filter(({ differs = [] }) => differs.length === 0).map(({ title }) => `- ${title}`)
}

function listDifferences(programs: readonly Row[]): string[] {
  const rows = programs.flatMap(({ title, differs = [] }) =>
    differs.map(({ at, layer, prints, reason, instead }) => [
      title,
      at?.join(', ') ?? (differs.length > 1 ? 'otherwise' : 'all'),
      layer,
      `\`${prints.trim().split('\n').at(-1)}\``,
      reason,
      instead,
    ]),
  )
  return renderTable(['What', 'Level', 'Layer', 'Ends with', 'Why', 'Instead'], rows)
}

function listModules(): string[] {
  const runs = {
    '`npm test`': dailyModules,
    '`npm run test:all`': deepModules,
    'of these at `standard`, too': plainUserModules,
    '`npm run test:all -- --wide`': wideModules,
  }
  const rows = Object.entries(runs).map(([run, names]) => [
    run,
    `${names.length}`,
    [...names]
      .sort()
      .map((name) => `\`${name}\``)
      .join(', '),
  ])
  return renderTable(['Run', 'Number', 'Modules'], rows)
}

function listModuleDifferences(): string[] {
  const rows = regressionDifferences.map(({ module, tests, reason, at }) => [
    `\`${module}\``,
    tests.map((name) => `\`${name}\``).join(', '),
    at?.join(', ') ?? 'all',
    reason,
  ])
  return renderTable(['Module', 'Tests', 'Level', 'Why'], rows)
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return lines.map((line) => line.replaceAll('| --- ', '|---').replace('|--- |', '|---|'))
}
