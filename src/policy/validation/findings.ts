/**
 * Turns rows of an analysis into findings. Rows that come out of a cell are claims, so they are checked and bounded
 * here.
 */
import type { Finding, Validation } from '../../core/validation.ts'
import { isRuleName, validationRules } from './rules.ts'
import type { RuleName } from './rules.ts'

/** Rule, what was found, line, column. */
export type FoundRow = readonly [RuleName, string, number, number]

/** More findings say nothing new about a program. */
export const findingsMax = 100
const rowsMax = findingsMax + Object.keys(validationRules).length
const quoteLengthMax = 80

/** For a program that could not be read completely. */
export function unreadable(why: string): readonly FoundRow[] {
  return [['unreadable', why, 1, 1]]
}

/** Undefined if these are not rows of an analysis. */
export function checkRows(value: unknown): readonly FoundRow[] | undefined {
  if (!Array.isArray(value) || value.length > rowsMax) return undefined
  return value.every(isRow) ? value : undefined
}

function isRow(row: unknown): row is FoundRow {
  if (!Array.isArray(row) || row.length !== 4) return false
  const [rule, what, line, column] = row as readonly unknown[]
  const isPlace = (at: unknown) => Number.isSafeInteger(at) && (at as number) >= 1
  return isRuleName(rule) && typeof what === 'string' && isPlace(line) && isPlace(column)
}

export function describeRows(rows: readonly FoundRow[]): Validation {
  const findings = rows.map(describeRow)
  const levels = rows.map(([rule]) => validationRules[rule].level)
  const riskLevel = levels.includes('high') ? 'high' : levels.includes('medium') ? 'medium' : 'safe'
  return { isSafe: findings.length === 0, riskLevel, findings }
}

function describeRow([rule, what, line, column]: FoundRow): Finding {
  return { rule, message: `\`${quote(what)}\` ${validationRules[rule].says}.`, line, column }
}

/**
 * On one line, short, and only visible characters: this is the program's text, and characters that break lines, change
 * the writing direction or have no width would change how the rest of the message reads.
 */
function quote(text: string): string {
  const plain = text
    .slice(0, 2 * quoteLengthMax + 2)
    .replaceAll(/(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{10000}-\u{10ffff}`]/gu, '?')
  return plain.length <= quoteLengthMax ? plain : `${plain.slice(0, quoteLengthMax - 1)}…`
}
