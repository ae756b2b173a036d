/**
 * Applies the changes of docs/internals/extending.md to a copy of the sources: their additions work, and nothing else
 * has to change.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

import { checkoutRoot, readText } from './support/sources/checkout.ts'

interface Change {
  readonly file: string
  /** The whole text of a new file; otherwise a diff. */
  readonly text: string
  readonly isNew: boolean
}

/** A block of code belongs to the last file that a line names at its start, in backticks. */
function readChanges(section: string): Change[] {
  const changes: Change[] = []
  const pattern = /^`(src\/[^`]+)`|^```(ts|diff)\n([^]*?)^```$/gm
  let file = ''
  for (const [, named, language, text = ''] of section.matchAll(pattern)) {
    if (named !== undefined) file = named
    else changes.push({ file, text, isNew: language === 'ts' })
  }
  return changes
}

function apply({ file, text, isNew }: Change, folder: string): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  if (isNew) {
    writeFileSync(path, text)
    return
  }
  const lines = text.trimEnd().split('\n')
  const side = (sign: string) =>
    lines.filter((line) => !line.startsWith(sign === '-' ? '+' : '-')).map((line) => line.slice(1))
  const before = side('-').join('\n')
  const source = readFileSync(path, 'utf8')
  assert.equal(source.split(before).length, 2, `${file} has this once:\n${before}`)
  writeFileSync(
    path,
    source.replace(before, () => side('+').join('\n')),
  )
}

function changesOf(heading: string): Change[] {
  const section = new RegExp(`^## ${heading}\\n([^]*?)(?=^## |(?![^]))`, 'm')
  return readChanges(section.exec(readText('docs/internals/extending.md'))?.[1] ?? '')
}

function runInFolder(text: string): unknown {
  writeFileSync(join(folder, 'program.ts'), text)
  const { stdout, stderr } = spawnSync(process.execPath, ['program.ts'], { cwd: folder, encoding: 'utf8' })
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

const folder = mkdtempSync(join(tmpdir(), 'lazaret-extended-'))
after(() => rmSync(folder, { recursive: true, force: true }))
chmodSync(folder, 0o755)
for (const name of ['src', 'native/bin', 'dist', 'package.json'])
  cpSync(join(checkoutRoot, name), join(folder, name), { recursive: true })
symlinkSync(join(checkoutRoot, 'node_modules'), join(folder, 'node_modules'))

const program = `
import { createLazaret } from './src/index.ts'
await using lazaret = createLazaret({ onEvent() {} })
const runs = []
for (const runtime of ['dash', 'dash', undefined]) {
  const { outcome, stdout, receipt } = await lazaret.run({
    language: 'shell', code: 'echo "$(readlink /proc/$$/exe) $1"', args: ['x'], ...(runtime && { runtime }),
  })
  runs.push([outcome.kind, stdout, receipt.runtime])
}
const { toolchains } = await lazaret.probe()
console.log(JSON.stringify({ runs, doctor: toolchains.map(({ name, state }) => [name, state]) }))
`

const skip = !existsSync('/usr/bin/dash') && 'dash is not installed'

test('adding a runtime takes a folder, a line and a name', { skip }, () => {
  const changes = changesOf('A runtime')
  assert.deepEqual(
    [...new Set(changes.map(({ file }) => file))],
    ['src/runtimes/dash/host.ts', 'src/runtimes/registry.ts', 'src/core/request.ts'],
  )
  for (const change of changes) apply(change, folder)
  const { runs, doctor } = runInFolder(program) as Record<string, unknown[][]>
  const dash = ['completed', '/usr/bin/dash x\n', 'dash']
  assert.deepEqual(runs?.slice(0, 2), [dash, dash])
  assert.deepEqual(runs?.[2]?.at(-1), 'shell')
  assert.ok(doctor?.some(([name, state]) => name === 'dash' && state === 'ok'))
})

const three = `
import { createLazaret } from './src/index.ts'
import { exitCodeOf } from './src/core/outcome.ts'
await using lazaret = createLazaret({ onEvent() {}, ceilings: { stackBytes: 2 ** 20 } })
const { stdout, receipt } = await lazaret.run({
  language: 'shell', code: 'ulimit -s; cat /proc/loadavg', limits: { stackBytes: 2 ** 22 },
})
const { outcome } = await lazaret.run({ language: 'shell', code: 'kill -ILL $$' })
const { layers, limits, clamped, protection } = receipt
console.log(JSON.stringify({
  stdout, stack: limits.stackBytes, clamped, hasLayer: layers.includes('no-load'), protection, outcome,
  exitCode: exitCodeOf(outcome),
}))
`

test('adding a limit, a layer or an outcome takes two files', () => {
  for (const heading of ['A limit', 'A layer', 'An outcome']) {
    const changes = changesOf(heading)
    assert.equal(new Set(changes.map(({ file }) => file)).size, 2, heading)
    for (const change of changes) apply(change, folder)
  }
  const { stdout, hasLayer, protection, ...rest } = runInFolder(three) as Record<string, unknown>
  assert.deepEqual(rest, {
    stack: { value: 2 ** 20, by: 'rlimit' },
    clamped: ['stackBytes'],
    outcome: { kind: 'crashed', signal: 'SIGILL' },
    exitCode: 132,
  })
  // Without namespaces guests read the host's own /proc.
  assert.equal(hasLayer, protection !== 'restricted')
  if (hasLayer) assert.equal(stdout, '1024\n')
})
