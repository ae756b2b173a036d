/** All sections of the benchmark run and print what they should. No test checks how fast anything is. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { before, test } from 'node:test'

import { sectionNames } from '../../bench/sections.ts'
import type { SectionName } from '../../bench/sections.ts'
import type { Table } from '../../bench/table.ts'
import { checkoutRoot } from '../support/sources/checkout.ts'

const program = join(checkoutRoot, 'bench/run.ts')

interface Document {
  readonly host: { readonly versions: Readonly<Record<string, string | null>> }
  readonly sections: readonly { readonly name: SectionName; readonly tables: readonly Table[] }[]
  readonly wrong: readonly string[]
}

/** All sections in one process, because its start and the probe of the machine take longer than most sections. */
const shortly = ['--turns', '2', '--seconds', '0.1', '--in-flight', '2', '--json']
let all: ReturnType<typeof bench> | undefined

before(() => {
  all = bench(shortly)
})

for (const name of sectionNames) {
  test(`the section ${name} answers with plausible rows`, () => {
    const { sections } = JSON.parse(all?.stdout ?? '') as Document
    const tables = sections.filter((section) => section.name === name).flatMap((section) => section.tables)
    assert.ok(tables.length > 0)
    assert.deepEqual(
      tables.flatMap(({ wrong }) => wrong),
      [],
    )
    for (const table of tables) assertPlausible(table)
  })
}

test('all sections are present, in order, without errors', () => {
  assert.equal(all?.status, 0, all?.stderr)
  const { host, sections, wrong } = JSON.parse(all.stdout) as Document
  assert.equal(host.versions['node'], process.versions.node)
  assert.deepEqual(wrong, [])
  assert.deepEqual(
    sections.map(({ name }) => name),
    [...sectionNames],
  )
})

test('--only measures the named sections', () => {
  const { status, stdout, stderr } = bench([...shortly, '--only', 'functions'])
  assert.equal(status, 0, stderr)
  const { sections } = JSON.parse(stdout) as Document
  assert.deepEqual(
    sections.map(({ name }) => name),
    ['functions'],
  )
})

test('--help lists the options, and a wrong option gets an error that says what is wrong', () => {
  const help = bench(['--help'])
  assert.equal(help.status, 0)
  for (const name of sectionNames) assert.ok(help.stdout.includes(name), name)
  for (const args of [
    ['--nope'],
    ['--turns', '0'],
    ['--turns', '1.5'],
    ['--seconds', 'x'],
    ['--in-flight', '1,,2'],
    ['--only', 'cells,x'],
  ]) {
    const { status, stdout, stderr } = bench(args)
    assert.equal(status, 2, args.join(' '))
    assert.equal(stdout, '')
    assert.match(stderr, /npm run bench/)
    assert.doesNotMatch(stderr, /\n {4}at /)
  }
})

test('an interrupted benchmark exits with 130 and leaves no process of a rival', async () => {
  const child = spawn(process.execPath, [program, '--only', 'throughput', '--seconds', '60'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  // All processes hold the write end of stderr, so it closes when the last one has ended.
  const closed = once(child.stderr, 'close')
  for await (const chunk of child.stderr.setEncoding('utf8')) {
    if (String(chunk).includes('throughput')) child.kill('SIGINT')
  }
  assert.deepEqual(await ended, [130, null])
  await closed
})

function bench(args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
}

/** Numbers are finite, quantiles are in order, and a table without rows gives a reason. */
function assertPlausible({ title, rows, goals, notes }: Table): void {
  if (rows.length === 0) assert.match(notes.join(), /^Skipped: \w/, title)
  for (const { name, figures, verdict } of rows) {
    const row = `${title}: ${name}`
    for (const [column, figure] of Object.entries(figures))
      assert.ok(Number.isFinite(figure), `${row}: ${column}`)
    for (const unit of ['', ' ms']) {
      const [p50, p95, p99] = ['p50', 'p95', 'p99'].map((share) => figures[share + unit] ?? 0)
      assert.ok((p50 ?? 0) <= (p95 ?? 0) && (p95 ?? 0) <= (p99 ?? 0), row)
    }
    if (verdict !== undefined) assert.ok(verdict.ratio === null || verdict.ratio >= 0, row)
  }
  for (const { text, measured } of goals) assert.ok(Number.isFinite(measured), `${title}: ${text}`)
}
