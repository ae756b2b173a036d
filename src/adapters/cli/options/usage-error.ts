/** A mistake in the command line or in a file that it names: shown without a stack, exit code 64. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** What to type instead. */
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}
