import { extname } from 'node:path'
import type { Language } from '../../../core/request.ts'

const languageByExtension: Readonly<Record<string, Language>> = {
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.py': 'python',
  '.sh': 'shell',
  '.bash': 'shell',
}

/** The language of a file extension, if there is one. */
export function findLanguage(path: string): Language | undefined {
  const extension = extname(path).toLowerCase()
  return Object.hasOwn(languageByExtension, extension) ? languageByExtension[extension] : undefined
}
