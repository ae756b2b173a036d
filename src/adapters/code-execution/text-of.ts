/** The text of any value, hostile or not, as a part of a message. */
export function textOf(value: unknown): string {
  try {
    return String(value instanceof Error ? value.message : value).slice(0, 200)
  } catch {
    return 'it has no text'
  }
}
