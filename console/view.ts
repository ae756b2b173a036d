/** One page of the console. It stays as it was while another one is shown. */
export interface View {
  readonly root: HTMLElement
  show?(): void
  hide?(): void
}

/** What went wrong, in words for a person. */
export function sayError(error: unknown): string {
  const { message, hint } = error as { readonly message?: string; readonly hint?: string }
  return [message ?? String(error), hint].filter((part) => part !== undefined && part !== '').join(' ')
}
