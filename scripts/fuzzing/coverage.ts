/** Which lines of the launcher a set of inputs reaches, counted by clang. */
import { execFileSync, spawnSync } from 'node:child_process'
import { basename, join } from 'node:path'

import { buildTargets } from './build-targets.ts'
import type { Target } from './targets.ts'

export interface FileCoverage {
  readonly file: string
  readonly lines: number
  readonly covered: number
}

/** Why lines cannot be counted here, or undefined. */
export function findCoverageObstacle(): string | undefined {
  for (const tool of ['llvm-profdata', 'llvm-cov']) {
    if (spawnSync(tool, ['--version'], { stdio: 'ignore' }).error !== undefined)
      return `${tool} is not installed`
  }
  return undefined
}

/** Coverage of each file of the launcher, by the inputs of all targets together. */
export function countLines(
  inputs: ReadonlyMap<string, readonly string[]>,
  targets: readonly Target[],
  folder: string,
): FileCoverage[] {
  const programs = buildTargets('coverage', targets, folder)
  for (const [name, program] of programs) {
    spawnSync(program, inputs.get(name) ?? [], {
      stdio: 'ignore',
      env: { LLVM_PROFILE_FILE: join(folder, `${name}-%p.profraw`) },
    })
  }
  const profile = join(folder, 'all.profdata')
  execFileSync('sh', ['-c', 'llvm-profdata merge -o "$1" "$2"/*.profraw', 'sh', profile, folder])
  const [first = '', ...others] = programs.values()
  const objects = others.flatMap((program) => ['-object', program])
  const json = execFileSync(
    'llvm-cov',
    ['export', '-summary-only', `-instr-profile=${profile}`, first, ...objects],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1 << 26,
    },
  )
  const { data } = JSON.parse(json) as Exported
  return data
    .flatMap(({ files }) => files)
    .filter(({ filename }) => filename.includes('/native/cell/') && filename.endsWith('.c'))
    .map(({ filename, summary: { lines } }) => ({
      file: basename(filename),
      lines: lines.count,
      covered: lines.covered,
    }))
}

interface Exported {
  readonly data: readonly {
    readonly files: readonly {
      readonly filename: string
      readonly summary: { readonly lines: { readonly count: number; readonly covered: number } }
    }[]
  }[]
}
