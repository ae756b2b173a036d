import type { z } from 'zod'

import type { Language, Realm, RuntimeName } from '../../core/request.ts'

interface Asked {
  readonly realm?: Realm | undefined
  readonly language: Language
  readonly runtime?: RuntimeName | undefined
  readonly functions?: object | undefined
}

/**
 * Adds an issue if a bare realm is impossible. In Node it would hide nothing: if the stack overflows while Node's own
 * code handles an `import()` or a stack trace, guest code gets an error of Node's realm, which leads to its globals.
 */
export function checkRealm(
  { realm, language, runtime = 'bun', functions = {} }: Asked,
  context: z.RefinementCtx,
): void {
  if (realm !== 'bare') return
  const refuse = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message })
  if (language !== 'javascript' && language !== 'typescript')
    refuse('realm', `"bare" is for javascript and typescript, and not for ${language}`)
  else if (runtime !== 'bun') refuse('realm', `"bare" is for the runtime bun, and not for ${runtime}`)
  if (Object.keys(functions).length > 0)
    refuse('functions', 'a program in a bare realm cannot call functions')
}
