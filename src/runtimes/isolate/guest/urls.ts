/** Parses URLs and queries for programs with Node's parser. Only strings pass between it and the isolate. */
import { urlParts } from '../inside/protocol.ts'
import type { UrlPart, UrlQuestion } from '../inside/protocol.ts'

/** Returns the answer as JSON, or `undefined` for an invalid URL. */
export function answerUrl(questionJson: string): string | undefined {
  const question = JSON.parse(questionJson) as UrlQuestion
  switch (question.ask) {
    case 'parse':
      return describe(URL.parse(question.href, question.base))
    case 'change': {
      const { href, part, value } = question
      const url = URL.parse(href)
      if (url !== null && part !== 'origin') url[part] = value
      return describe(url)
    }
    case 'pairs':
      return JSON.stringify([...new URLSearchParams(question.query)])
    case 'query':
      return JSON.stringify(String(new URLSearchParams(question.pairs)))
  }
}

function describe(url: URL | null): string | undefined {
  if (url === null) return undefined
  return JSON.stringify(Object.fromEntries(urlParts.map((part: UrlPart) => [part, url[part]])))
}
