/** What workers load ahead of a run: Python modules, JavaScript packages. */
import type { Language } from './request.ts'

/** The operator's modules and packages, by language. A plain list applies only to Python. */
export type Preload =
  | readonly string[]
  | {
      /** Modules of Python, such as `numpy`. */
      readonly python?: readonly string[]
      /** Packages for JavaScript and TypeScript, such as `lodash`. */
      readonly node?: readonly string[]
    }

/** The modules or packages for programs in this language. */
export function preloadFor(preload: Preload, language: Language): readonly string[] {
  const { python = [], node = [] } = isList(preload) ? { python: preload } : preload
  switch (language) {
    case 'python':
      return python
    case 'javascript':
    case 'typescript':
      return node
    case 'shell':
      return []
  }
}

function isList(preload: Preload): preload is readonly string[] {
  return Array.isArray(preload)
}
