/** One page of the console. It keeps its state while another page is shown. */
export interface View {
  readonly root: HTMLElement
  show?(): void
  hide?(): void
}

/** A readable message about what went wrong. */
export function sayError(error: unknown): string {
  const { message, hint } = error as { readonly message?: string; readonly hint?: string }
  return [message ?? String(error), hint].filter((part) => part !== undefined && part !== '').join(' ')
}
