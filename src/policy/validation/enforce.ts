/** What the mode `enforce` refuses. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Validation } from '../../core/validation.ts'
import { validationRules } from './rules.ts'
import type { RuleName } from './rules.ts'

/** Throws CODE_REJECTED, with all findings, for code of level `high`. */
export function requireAcceptable({ riskLevel, findings }: Validation): void {
  if (riskLevel !== 'high') return
  const high = findings.filter(({ rule }) => validationRules[rule as RuleName].level === 'high')
  const [first = { line: 1, rule: '', message: '' }] = high
  const others = high.length === 1 ? '' : ` ${high.length - 1} more.`
  const detail = `Line ${first.line}, ${first.rule}: ${first.message}${others}`
  throw new LazaretError('CODE_REJECTED', { detail, findings })
}
