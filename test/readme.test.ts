/**
 * Pages as tests: their programs run, and their commands print what the page shows. Each block that cannot run has a
 * reason.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkoutRoot, readText } from './support/sources/checkout.ts'
import { agrees, annotate, findBlocks, readShown, showModule } from './support/pages/page-programs.ts'
import { whyNoSandboxes } from './support/sandboxes-here.ts'

/** Far more than any of them needs. */
const blockMs = 60_000

const pages = [
  'README.md',
  'docs/quickstart.md',
  'docs/recipes.md',
  'docs/guide/actors.md',
  'docs/guide/agent-executor.md',
  'docs/operate/audit.md',
  'docs/operate/cli.md',
  'docs/operate/configuration.md',
  'docs/guide/contexts.md',
  'docs/reference/errors.md',
  'docs/guide/isolates.md',
  'docs/reference/limitations.md',
  'docs/reference/limits.md',
  'docs/operate/mcp.md',
  'docs/guide/packages.md',
  'docs/operate/policy.md',
  'docs/guide/results.md',
  'docs/guide/sandboxes.md',
  'docs/guide/secrets.md',
  'docs/operate/servers.md',
  'docs/guide/snippets.md',
  'docs/operate/warm-runs.md',
]
const blocks = pages.flatMap((page) => findBlocks(page, readText(page)))
const programs = blocks.filter(
  ({ language, reasonNotToRun }) => language === 'ts' && reasonNotToRun === undefined,
)
const commands = blocks.filter(
  ({ language, reasonNotToRun }) => language === 'sh' && reasonNotToRun === undefined,
)
const project = makeProject()
const noSandboxes = await whyNoSandboxes()
const noMatplotlib =
  spawnSync('python3', ['-c', 'import matplotlib']).status !== 0 && 'python3 has no matplotlib'
after(() => rmSync(project, { recursive: true, force: true }))

test('every block of code runs here or has a reason why not', () => {
  assert.ok(programs.length > 0 && commands.length > 0)
  const others = blocks.filter(
    (block) => block.reasonNotToRun === undefined && !programs.includes(block) && !commands.includes(block),
  )
  assert.deepEqual(
    others.filter(({ language }) => !['json', 'text'].includes(language)).map(({ place }) => place),
    [],
  )
  const unlikely = commands.filter(({ code }) => !/^(printf '[^']*' \| )?(npx )?lazaret /.test(code))
  assert.deepEqual(
    unlikely.map(({ place }) => place),
    [],
    'only commands of lazaret can run here',
  )
  assert.deepEqual(
    blocks.filter(({ reasonNotToRun }) => reasonNotToRun === '').map(({ place }) => place),
    [],
  )
})

for (const { place, code } of programs) {
  const skip =
    (code.includes('lazaret.sandbox(') && noSandboxes) || (code.includes('matplotlib') && noMatplotlib)
  test(`the program at ${place} runs and prints what its comments say`, { skip }, () => {
    const { source, expected } = annotate(code)
    const file = join(project, 'program.ts')
    const shownFile = join(project, 'shown.jsonl')
    writeFileSync(file, source)
    writeFileSync(shownFile, '')
    const ran = spawnSync(process.execPath, ['--import', join(project, 'show.mjs'), file], {
      cwd: project,
      encoding: 'utf8',
      timeout: blockMs,
      env: { ...process.env, SHOWN_FILE: shownFile },
    })
    assert.deepEqual({ status: ran.status, stderr: ran.stderr }, { status: 0, stderr: '' })
    const actual = readShown(readFileSync(shownFile, 'utf8'))
    for (const [line, text] of expected)
      assert.ok(agrees(actual.get(line), text), `${actual.get(line)}, but the page says ${text}`)
  })
}

for (const { place, code } of commands) {
  test(`the commands at ${place} print what the comments below them say`, () => {
    for (const { command, expected } of splitCommands(code)) {
      const ran = spawnSync('sh', ['-c', command.replace(/(?<=^|\| )npx /, '')], {
        cwd: project,
        encoding: 'utf8',
        timeout: blockMs,
        env: { ...process.env, PATH: `${join(project, 'bin')}:${process.env['PATH']}` },
      })
      assert.equal(ran.status, 0, `${command}\n${ran.stderr}`)
      if (expected.length > 0) assert.deepEqual(ran.stdout.trimEnd().split('\n'), expected, command)
    }
  })
}

/** A folder in which `lazaret` is this checkout: as a package that loads the sources, and as a command. */
function makeProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-readme-'))
  const asPackage = join(folder, 'node_modules/lazaret')
  mkdirSync(asPackage, { recursive: true })
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(checkoutRoot, 'src'), join(asPackage, 'src'))
  writeFileSync(join(asPackage, 'package.json'), JSON.stringify(manifestOfSources()))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'show.mjs'), showModule)
  const main = join(checkoutRoot, 'dist/adapters/cli/main.js')
  writeFileSync(join(folder, 'bin/lazaret'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
    mode: 0o755,
  })
  return folder
}

/** The package's manifest, with every entry pointing to its source. */
function manifestOfSources(): object {
  const { name, type, exports } = JSON.parse(readText('package.json')) as {
    readonly name: string
    readonly type: string
    readonly exports: Readonly<Record<string, { readonly default?: string }>>
  }
  const entries = Object.entries(exports).flatMap(([entry, { default: built }]) =>
    built === undefined ? [] : [[entry, built.replace('/dist/', '/src/').replace(/\.js$/, '.ts')]],
  )
  return { name, type, exports: Object.fromEntries(entries) as unknown }
}

function splitCommands(code: string): { command: string; expected: string[] }[] {
  const found: { command: string; expected: string[] }[] = []
  for (const line of code.trimEnd().split('\n')) {
    const [, answer] = /^# →\s?(.*)$/.exec(line) ?? []
    const last = found.at(-1)
    if (answer !== undefined) last?.expected.push(answer)
    else if (last?.command.endsWith('\\')) last.command = `${last.command.slice(0, -1)}${line}`
    else if (line !== '') found.push({ command: line, expected: [] })
  }
  return found
}
