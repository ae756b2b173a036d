/**
 * npm run bench [-- --turns 60] [--json]
 * Prints medians, the 95th percentile and ratios; every table is measured interleaved, in this one process.
 */
import { cpus, release } from 'node:os'
import { parseArgs } from 'node:util'

import { benchCold } from './cold.ts'
import { benchFunctions } from './functions.ts'
import { verdict } from './measure.ts'
import type { Comparison } from './measure.ts'
import { benchStreaming } from './streaming.ts'

const { values } = parseArgs({
  options: { turns: { type: 'string', default: '60' }, json: { type: 'boolean', default: false } },
})
const turnCount = Number(values.turns)
const comparisons = [
  ...(await benchCold(turnCount)),
  await benchStreaming(turnCount),
  ...(await benchFunctions(turnCount)),
]
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Linux ${release()}, Node ${process.versions.node}`

if (values.json) {
  process.stdout.write(`${JSON.stringify({ machine, comparisons }, null, 2)}\n`)
} else {
  process.stdout.write(`${machine}\n`)
  for (const comparison of comparisons) process.stdout.write(`\n${format(comparison)}`)
}

function format({ title, turns, load, rows }: Comparison): string {
  const [ours] = rows
  const lines = rows.map((row, index) => {
    const figures = `${row.p50.toFixed(2).padStart(8)}${row.p95.toFixed(2).padStart(9)}`
    const ratio = ours === undefined || index === 0 ? '' : verdict(ours, row)
    return `  ${row.name.padEnd(28)}${figures}   ${ratio}\n`
  })
  return `${title} (${turns} turns, load ${load.toFixed(2)})\n  ${'ms'.padEnd(28)}     p50      p95   ours against it\n${lines.join('')}`
}
