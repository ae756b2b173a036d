/** Type-checks programs of users, those of the pages among them, in strict projects that have only the package's declarations. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkoutRoot, listFiles, readText } from './support/sources/checkout.ts'
import { findBlocks } from './support/pages/page-programs.ts'

/** Programs of docs/guide/agents.md need other packages, which test/agents installs. */
const isOfOthers = (code: string) => /^import .* from '(?!lazaret|node:)/m.test(code)

const programs = ['README.md', ...listFiles('docs', ['.md'])]
  .flatMap((page) => findBlocks(page, readText(page)))
  .filter(({ language, code }) => language === 'ts' && code.includes('import ') && !isOfOthers(code))

/** The options of README.md, and stricter ones. */
const compilerOptions = {
  target: 'es2022',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
}

test('the programs of the pages compile in strict mode', () => {
  assert.equal(compile(programs, compilerOptions), '')
  assert.ok(programs.length > 30, `${programs.length} programs`)
})

test('the client compiles for a browser, without the types of Node', () => {
  const code = `import { connectLazaret } from 'lazaret/client'
const lazaret = connectLazaret({ url: 'http://127.0.0.1:4000', token: 'a' })
const sandbox = await lazaret.sandbox()
const server = await sandbox.startProcess('python3 -m http.server')
await server.kill('SIGINT')
// @ts-expect-error There is no such signal.
await server.kill('SIGNOTHING')
`
  const options = { ...compilerOptions, types: [], lib: ['es2024', 'esnext.disposable', 'dom'] }
  assert.equal(compile([{ place: 'browser', code }], options), '')
})

interface Program {
  readonly place: string
  readonly code: string
}

/** What the compiler says of the programs, in a project of their own. */
function compile(all: readonly Program[], options: typeof compilerOptions): string {
  const project = mkdtempSync(join(tmpdir(), 'lazaret-pages-'))
  try {
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
    symlinkSync(checkoutRoot, join(project, 'node_modules/lazaret'))
    for (const name of ['@types/node', 'undici-types'])
      symlinkSync(join(checkoutRoot, 'node_modules', name), join(project, 'node_modules', name))
    writeFileSync(join(project, 'package.json'), '{"type":"module"}')
    for (const { place, code } of all)
      writeFileSync(join(project, `${place.replaceAll(/\W+/g, '-')}.ts`), code)
    const config = { compilerOptions: options, include: ['*.ts'] }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(checkoutRoot, 'node_modules/typescript/bin/tsc')
    const checked = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8', cwd: project })
    return checked.stdout + checked.stderr
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}
