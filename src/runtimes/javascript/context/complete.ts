/** Completes the last name of a text that is being typed, such as `na` or `object.property.na`. */
const matchesMax = 100
const nameCharactersMax = 200
const oneName = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*'
const identifier = new RegExp(`^${oneName}$`, 'u')
/** A path such as `a.b.` and the beginning of a name. Does not match after a call, an index or a literal. */
const trailingPath = new RegExp(
  `(?:(?<![\\w$.)\\]'"\`])(?<path>${oneName}(?:\\.${oneName})*)\\.)?(?<prefix>${oneName}|)$`,
  'u',
)

export function completeFrom(text: string, listNames: (path: string) => readonly string[]): string[] {
  const { path = '', prefix = '' } = trailingPath.exec(text)?.groups ?? {}
  // A dot without a path: the value before it is unknown.
  if (
    path === '' &&
    text
      .slice(0, text.length - prefix.length)
      .trimEnd()
      .endsWith('.')
  )
    return []
  const isMatch = (name: string) =>
    name.startsWith(prefix) && name.length <= nameCharactersMax && identifier.test(name)
  return [...new Set(listNames(path))].filter(isMatch).toSorted().slice(0, matchesMax)
}
