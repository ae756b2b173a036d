/** What a reviewer should not have to say: lengths, names, headers, left-overs, links. The linter and the formatter hold the rest. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { checkoutRoot, codeLines, listFiles, readText } from './support/checkout.ts'

const everyFile = listFiles().filter((file) => !file.startsWith('examples/data/'))
const scripts = ['.ts', '.mjs', '.js', '.py', '.sh']
const source = everyFile.filter((file) => [...scripts, '.c', '.h'].some((end) => file.endsWith(end)))
const ours = listFiles('src', ['.ts', '.py'])
const launcher = listFiles('native', ['.c', '.h'])
const pages = listFiles('', ['.md'])

test('no source file is longer than 300 lines', () => {
  const long = [...ours, ...launcher, ...listFiles('scripts'), ...listFiles('bench')].filter(
    (file) => lines(file).length > 300,
  )
  assert.deepEqual(long, [])
})

test('no file is named after nothing in particular', () => {
  const empty = /^(utils?|helpers?|common|misc|shared|stuff|lib)$/
  const vague = everyFile.filter((file) =>
    file.split('/').some((part) => empty.test(part.replace(/\..*$/, ''))),
  )
  assert.deepEqual(vague, [])
})

test('a source file of more than 40 lines says first what it is for', () => {
  const silent = ours.filter(
    (file) => lines(file).length > 40 && !/^(\/\*\*|\/\/|#!|"""|# )/.test(readText(file)),
  )
  assert.deepEqual(silent, [])
})

test('every file of the launcher opens with a card', () => {
  const bare = launcher.filter((file) => !/^\/\*\n \* \S.{19}/.test(readText(file)))
  assert.deepEqual(bare, [])
})

test('nothing is left for later in a comment, and no test runs alone', () => {
  assert.deepEqual(findLines(source, /TODO|FIXME|XXX|\.only\(|only: true/), [])
})

test('a test that is skipped says why', () => {
  assert.deepEqual(
    findLines(source, /(skip|todo): true|\.(skip|todo)\(\)|\b(test|it|describe|suite)\.(skip|todo)\b/),
    [],
  )
})

test('no file names a folder or a server of the machine it was written on', () => {
  // Folders that are nobody's serve as examples. A lock file with hosts in it works only where they can be reached.
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

test('no line is too wide to read side by side with another', () => {
  // The formatter holds code at 110. A message stays in one piece, so that it can be searched for; so does an address
  // and the row of a table.
  const isOnePiece = (line: string) =>
    line.startsWith('|') || /(['"`]).{60,}\1/.test(line) || /https?:\/\/\S{40}/.test(line)
  const isWide = (line: string) => line.length > 130 && !isOnePiece(line)
  const checked = [...ours, ...launcher, ...listFiles('scripts'), ...listFiles('bench'), ...pages]
  const wide = checked.flatMap((file) =>
    lines(file).flatMap((line, index) => (isWide(line) ? [`${file}:${index + 1}`] : [])),
  )
  assert.deepEqual(wide, [])
})

/** Their names are those of commands and of an API that others know. */
const namedByContract = [
  'src/adapters/actor/message.ts',
  'src/adapters/code-execution/action.ts',
  'src/sandbox/types.ts',
  'src/sandbox/processes.ts',
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

/** Everywhere but here, where the patterns stand. */
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

/** As the usual viewers name them. */
function headingsOf(page: string): string[] {
  const headings = [...withoutCode(readText(page)).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text)
  return headings.map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
}
