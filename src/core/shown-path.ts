/** Paths of guests on their way into a message. */
const shownCharactersMax = 200

// Controls, changes of writing direction, separators, and halves of characters.
const misleading = /[\p{C}\p{Zl}\p{Zp}]/gu

/** The path as it is, or in quotes if it could look like several lines, or like other text. */
export function showPath(path: string): string {
  return path.search(misleading) === -1 ? path : describePath(path)
}

/** The path in quotes, on one line and bounded, because guests can choose misleading names. */
export function describePath(path: string): string {
  const isLong = path.length > shownCharactersMax
  const shown = JSON.stringify(isLong ? path.slice(0, shownCharactersMax) : path)
  const plain = shown.replace(misleading, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
  return isLong ? `${plain}…` : plain
}
