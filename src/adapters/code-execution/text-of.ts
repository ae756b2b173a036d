/** The text of any value, even a hostile one, for a message. */
export function textOf(value: unknown): string {
  try {
    return String(value instanceof Error ? value.message : value).slice(0, 200)
  } catch {
    return 'it cannot be shown'
  }
}
