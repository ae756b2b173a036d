/** What a change can break, judged by the paths that it touches. */
import { spawnSync } from 'node:child_process'

/**
 * `pages`: only documents. `source`: code behind the walls, or tests. `walls`: what confines, limits, ends or judges guests,
 * and what decides which tests run. A change whose extent is not known counts as `walls`.
 */
export type ChangeKind = 'pages' | 'source' | 'walls'

export interface Change {
  readonly kind: ChangeKind
  /** Relative to the checkout; undefined if it is not known what has changed. */
  readonly paths: readonly string[] | undefined
}

const pages = [/^docs\//, /^[^/]+\.md$/, /^LICENSE$/]

const walls = [
  /^native\//,
  /^src\/(jail|pool|result|policy)\//,
  /^src\/runtimes\/(channel|work|javascript\/fork|python\/fork)/,
  /^src\/engine\/runs\//,
  /^src\/sandbox\/commands\//,
  /^src\/core\/limits/,
  /^profiles\//,
  // They decide what everything else runs with.
  /^package(-lock)?\.json$/,
  /^tsconfig/,
  /^\.ci\//,
  /^scripts\//,
  /^test\/support\//,
]

export function classify(paths: readonly string[] | undefined): ChangeKind {
  if (paths === undefined || paths.some((path) => matches(path, walls))) return 'walls'
  return paths.every((path) => matches(path, pages)) ? 'pages' : 'source'
}

/** The change from `base`, or from where this branch left the main branch, to the working tree. */
export function findChange(base = process.env['LAZARET_CI_BASE']): Change {
  const from = base === undefined || base === '' ? branchPoint() : commitOf(base)
  const paths = from === undefined ? undefined : pathsSince(from)
  return { kind: classify(paths), paths }
}

/** Undefined on the main branch itself, whose last landing is not recorded anywhere. */
function branchPoint(): string | undefined {
  const point = git('merge-base', 'HEAD', 'origin/main')
  return point === commitOf('HEAD') ? undefined : point
}

function commitOf(name: string): string | undefined {
  return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)
}

function pathsSince(commit: string): readonly string[] | undefined {
  const committed = git('diff', '--name-only', '--no-renames', '-z', commit)
  const fresh = git('ls-files', '--others', '--exclude-standard', '-z')
  if (committed === undefined || fresh === undefined) return undefined
  return [...new Set(`${committed}\0${fresh}`.split('\0').filter((path) => path !== ''))]
}

function git(...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return status === 0 ? stdout.trim() : undefined
}

function matches(path: string, patterns: readonly RegExp[]): boolean {
  return patterns.some((pattern) => pattern.test(path))
}
