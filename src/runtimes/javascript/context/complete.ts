/** Names that may follow what is being typed: the last name of a text, maybe behind other names and dots. */
const matchesMax = 100
const nameCharactersMax = 200
const oneName = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*'
const identifier = new RegExp(`^${oneName}$`, 'u')
/** Does not complete after a call, an index or a literal, whose value is unknown. */
const trailingPath = new RegExp(
  `(?:(?<![\\w$.)\\]'"\`])(?<path>${oneName}(?:\\.${oneName})*)\\.)?(?<prefix>${oneName}|)$`,
  'u',
)

export function completeFrom(text: string, listNames: (path: string) => readonly string[]): string[] {
  const { path = '', prefix = '' } = trailingPath.exec(text)?.groups ?? {}
  // After anything but a plain name, whose value is unknown.
  if (
    path === '' &&
    text
      .slice(0, text.length - prefix.length)
      .trimEnd()
      .endsWith('.')
  )
    return []
  const isMeant = (name: string) =>
    name.startsWith(prefix) && name.length <= nameCharactersMax && identifier.test(name)
  return [...new Set(listNames(path))].filter(isMeant).toSorted().slice(0, matchesMax)
}
