import { UsageError } from './usage-error.ts'

/**
 * The operands of `lazaret exec` as a line for the shell. A single operand is the line itself. Several are quoted, so that
 * the shell does not interpret spaces and `$` that the caller's own shell has already left as they are.
 */
export function toShellCode(words: readonly string[]): string {
  const [first, ...others] = words
  if (first === undefined || words.every((word) => word.trim() === '')) {
    throw new UsageError('no command given.', 'Write it after --, as in: lazaret exec -- ls -la')
  }
  return others.length === 0 ? first : words.map(quote).join(' ')
}

function quote(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
