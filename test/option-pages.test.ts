/** What the pages say of options, compared with the table that these follow from. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { optionFlags } from '../src/adapters/cli/engine-flags.ts'
import { limitFlags } from '../src/adapters/cli/limit-flags.ts'
import { type OptionName, optionRows } from '../src/engine/option-table.ts'
import { readText } from './support/checkout.ts'

test('the page of the configuration says of each option what it is and which doors it may come by', () => {
  const rows = optionRows.map(([name, { files }]) => {
    const inFile = files === 'none' ? 'no, it is code' : 'yes'
    const found = typeof files === 'string' ? 'refused' : files.allowed
    return `| \`${name}\` | ${describe(name)} | ${inFile} | ${found} | ${flagsOf(name)} |`
  })
  const table = readText('docs/configuration.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  assert.deepEqual(table, rows)
})

test('the threat model names what a file found on the way may change, and nothing else', () => {
  const [row = ''] =
    readText('THREAT_MODEL.md').match(/^\| A configuration that somebody else wrote.*$/m) ?? []
  const [, , defence = ''] = row.split('|')
  const narrowing = optionRows.filter(([, { files }]) => typeof files !== 'string').map(([name]) => name)
  const named = [...defence.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  assert.deepEqual(new Set(named), new Set(narrowing))
})

/** The first sentence of its documentation. */
function describe(name: string): string {
  const source = readText('src/engine/options.ts')
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+readonly ${name}\\?:`).exec(source)?.[1] ?? ''
  const text = comment.replace(/\s*\n\s*\*\s*/g, ' ').trim()
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? `no documentation of ${name}`
}

function flagsOf(name: OptionName): string {
  const flags =
    name === 'defaults'
      ? Object.keys(limitFlags)
      : Object.entries(optionFlags).flatMap(([flag, { option }]) => (option === name ? [flag] : []))
  return flags.length === 0 ? '—' : flags.map((flag) => `\`--${flag}\``).join(', ')
}
