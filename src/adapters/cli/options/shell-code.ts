import { UsageError } from './usage-error.ts'

/**
 * The operands of `lazaret exec` as a line for the shell. One word is that line. Several are quoted, so that a space or
 * a `$` that the caller's own shell left alone is not read a second time.
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
