/** docs/reference/compatibility.md must match the tables of this folder, whose programs are run. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { readText } from '../support/sources/checkout.ts'
import { listSections } from './page.ts'

const page = readText('docs/reference/compatibility.md')

/** The list and the table below a heading, without the prose. */
function linesBelow(heading: string): string[] {
  const [, below = ''] = page.split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [section = ''] = below.split(/^#/m)
  return section.split('\n').filter((line) => /^(- |\|)/.test(line))
}

describe('docs/reference/compatibility.md', () => {
  for (const [heading, lines] of listSections()) {
    test(`has the rows of “${heading}”`, () => {
      assert.deepEqual(linesBelow(heading), lines)
      assert.ok(lines.length > 1)
    })
  }

  test('explains each difference and what to do', () => {
    const [, , ...rows] = linesBelow('What differs')
    const short = rows.filter((row) =>
      row
        .split(' | ')
        .slice(-2)
        .some((cell) => cell.length < 5),
    )
    assert.deepEqual(short, [])
  })
})
