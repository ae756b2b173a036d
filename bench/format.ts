/** Tables for people. */
import type { HostFacts } from './measure/host-facts.ts'
import type { Goal, Row, Table } from './table.ts'

export function formatHost(facts: HostFacts): string {
  const versions = Object.entries(facts.versions).map(
    ([name, version]) => `${name} ${version ?? 'not installed'}`,
  )
  return [
    `${facts.cores} × ${facts.processor}, ${facts.memoryGiB} GiB, Linux ${facts.kernel}`,
    `${versions.join(', ')}; as ${facts.user}, protection ${facts.protection}; load ${facts.loadBefore.toFixed(2)}`,
    ...(isBusy(facts) ? [busyWarning] : []),
    '',
  ].join('\n')
}

const busyWarning =
  'WARNING: other work keeps this machine busy; its figures mean little (bench/README.md, load).'

function isBusy({ loadBefore, cores }: HostFacts): boolean {
  return loadBefore > cores / 2
}

const columnWidth = 9

export function formatTable({ title, unit, load, rows, goals, notes, wrong }: Table): string {
  const columns = [...new Set(rows.flatMap(({ figures }) => Object.keys(figures)))]
  const nameWidth = Math.max(unit.length, ...rows.map(({ name }) => name.length)) + 2
  const head = [unit.padEnd(nameWidth), ...columns.map((column) => cell(column, column))].join('')
  const hasVerdicts = rows.some(({ verdict }) => verdict !== undefined)
  const lines = rows.map((row) => {
    const figures = columns.map((column) => cell(column, formatFigure(row.figures[column])))
    return `  ${row.name.padEnd(nameWidth)}${figures.join('')}${formatVerdict(row)}`
  })
  return [
    `\n${title}${rows.length > 0 ? `, load ${load.toFixed(2)}` : ''}`,
    ...(rows.length > 0 ? [`  ${head}${hasVerdicts ? '   ours ÷ rival' : ''}`, ...lines] : []),
    ...goals.map((goal) => `  ${formatGoal(goal)}`),
    ...notes.map((note) => `  ${note}`),
    ...wrong.map((fault) => `  WRONG: ${fault}`),
    '',
  ]
    .map((line) => line.trimEnd())
    .join('\n')
}

/** Pads a cell to the width of its column's name. */
function cell(column: string, text: string): string {
  return text.padStart(Math.max(columnWidth, column.length + 2))
}

function formatFigure(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return ''
  return value.toFixed(Math.abs(value) >= 1000 ? 0 : 2)
}

function formatVerdict({ verdict }: Row): string {
  if (verdict === undefined) return ''
  const ratio = verdict.ratio === null ? '' : `× ${verdict.ratio.toFixed(2)}`
  const words =
    verdict.winner === null
      ? `no winner: ${verdict.reason ?? 'unknown'}`
      : `${verdict.winner === 'lazaret' ? 'lazaret' : 'the rival'} wins`
  return `   ${ratio.padEnd(8)} ${words}`
}

function formatGoal({ text, measured, isMet }: Goal): string {
  return `goal ${isMet ? 'met' : 'MISSED'}: ${text} (${measured.toFixed(2)})`
}
