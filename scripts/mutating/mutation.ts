/** One deliberate defect, and the tests that must notice it. */
export interface Mutation {
  readonly name: string
  /** What is wrong now, in one sentence. */
  readonly defect: string
  readonly kind: Kind
  readonly file: string
  /** Occurs once in the file. */
  readonly find: string
  readonly replace: string
  /** Test files, of which at least one must fail. */
  readonly caughtBy: readonly string[]
}

/** What somebody loses by the defect. */
export type Kind = 'layer' | 'limit' | 'outcome' | 'leak' | 'hang' | 'secret' | 'door' | 'policy' | 'files'

/** The text of its file with the defect. Throws if the table no longer fits the file. */
export function mutate({ name, file, find, replace }: Mutation, text: string): string {
  const [before, after, ...others] = text.split(find)
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error(
      `${name}: ${file} contains the text to replace ${others.length + (after === undefined ? 0 : 1)} times.`,
    )
  return before + replace + after
}
