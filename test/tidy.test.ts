/**
 * What a reviewer should not have to mention: names, headers, leftovers, links. The linter and the formatter
 * check the rest.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { checkoutRoot, codeLines, listFiles, readText } from './support/sources/checkout.ts'

const everyFile = listFiles().filter((file) => !file.startsWith('examples/data/'))
const scripts = ['.ts', '.mjs', '.js', '.py', '.sh']
const source = everyFile.filter((file) => [...scripts, '.c', '.h'].some((end) => file.endsWith(end)))
const ours = listFiles('src', ['.ts', '.py'])
const launcher = listFiles('native', ['.c', '.h'])
const pages = listFiles('', ['.md'])

test('no file has a name without meaning', () => {
  const empty = /^(utils?|helpers?|common|misc|shared|stuff|lib)$/
  const vague = everyFile.filter((file) =>
    file.split('/').some((part) => empty.test(part.replace(/\..*$/, ''))),
  )
  assert.deepEqual(vague, [])
})

test('a source file of more than 40 lines begins with a comment about its purpose', () => {
  const silent = ours.filter(
    (file) => lines(file).length > 40 && !/^(\/\*\*|\/\/|#!|"""|# )/.test(readText(file)),
  )
  assert.deepEqual(silent, [])
})

test('every file of the launcher begins with a comment about its purpose', () => {
  const bare = launcher.filter((file) => !/^\/\*\n \* \S.{19}/.test(readText(file)))
  assert.deepEqual(bare, [])
})

test('no comment contains a to-do, and no test is marked `only`', () => {
  assert.deepEqual(findLines(source, /TODO|FIXME|XXX|\.only\(|only: true/), [])
})

test('a test that is skipped says why', () => {
  assert.deepEqual(
    findLines(source, /(skip|todo): true|\.(skip|todo)\(\)|\b(test|it|describe|suite)\.(skip|todo)\b/),
    [],
  )
})

test('what tests draw at random has a seed of test/support/seed.ts', () => {
  const tests = source.filter((file) => /^test(-deep)?\//.test(file) && file !== 'test/support/fast-check.ts')
  const ownSeeds = /^import .* from 'fast-check'|\bseed(?:edRandom\(|\b[^=]*=).*(?:\bnow\(\)|Math\.random)/
  assert.deepEqual(findLines(tests, ownSeeds), [])
})

test('no file names a folder or a server of a developer’s machine', () => {
  // Folders of nobody serve as examples. A lock file with hosts works only where these can be reached.
  const folders =
    /(?<![\w.-])\/work\/|\/home\/(?!app\/|data\b|c\.json)\w+\/|\/Users\/|\/root\/\.(?!ssh\/|bashrc|\.)/
  const servers = /registry\.npmjs|npmmirror|"resolved"|pypi\.org/
  assert.deepEqual(findLines(everyFile, folders), [])
  assert.deepEqual(findLines(everyFile, servers), [])
})

test('every link between pages leads to a file, and to a heading that it has', () => {
  const broken = pages.flatMap((page) =>
    [...withoutCode(readText(page)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^(https?|mailto):/.test(link) && !isReachable(page, link))
      .map((link) => `${page}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

test('no line is too wide', () => {
  // The formatter wraps code at 110. Messages, addresses and rows of tables stay in one piece, so that they can be
  // searched for.
  const isOnePiece = (line: string) =>
    line.startsWith('|') || /(['"`]).{60,}\1/.test(line) || /https?:\/\/\S{40}/.test(line)
  const isWide = (line: string) => line.length > 130 && !isOnePiece(line)
  const checked = [...ours, ...launcher, ...listFiles('scripts'), ...listFiles('bench'), ...pages]
  const wide = checked.flatMap((file) =>
    lines(file).flatMap((line, index) => (isWide(line) ? [`${file}:${index + 1}`] : [])),
  )
  assert.deepEqual(wide, [])
})

/** Their names are those of commands and of a known API. */
const namedByContract = [
  'src/adapters/actor/message.ts',
  'src/adapters/code-execution/action.ts',
  'src/sandbox/types.ts',
  'src/sandbox/processes/processes.ts',
  'src/sandbox/contexts/context-types.ts',
]

test('a quantity that a caller sets carries its unit, and a yes-or-no is positive', () => {
  const wrong = ours
    .filter((file) => file.endsWith('.ts') && !namedByContract.includes(file))
    .flatMap((file) => codeLines(file).map(({ number, text }) => ({ place: `${file}:${number}`, text })))
    .filter(({ text }) =>
      /^\s*(readonly )?(timeout|delay|duration|interval|size|no[A-Z]\w*|not[A-Z]\w*|disable[A-Z]\w*)\??: (number|boolean)\b/.test(
        text,
      ),
    )
  assert.deepEqual(
    wrong.map(({ place }) => place),
    [],
  )
})

function lines(file: string): string[] {
  return readText(file).replace(/\n$/, '').split('\n')
}

/** Searches all files except this one, which contains the patterns. */
function findLines(files: readonly string[], pattern: RegExp): string[] {
  const others = files.filter((file) => file !== 'test/tidy.test.ts')
  return others.flatMap((file) =>
    lines(file).flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
  )
}

function withoutCode(page: string): string {
  return page.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

function isReachable(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(checkoutRoot, target))) return false
  return heading === undefined || !basename(target).endsWith('.md') || headingsOf(target).includes(heading)
}

/** The anchors that usual viewers generate. */
function headingsOf(page: string): string[] {
  const headings = [...withoutCode(readText(page)).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text)
  return headings.map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
}
