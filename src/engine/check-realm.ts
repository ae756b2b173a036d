import type { z } from 'zod'

import type { Language, Realm } from '../core/request.ts'

interface Asked {
  readonly realm?: Realm | undefined
  readonly language: Language
  readonly functions?: object | undefined
}

/** Adds an issue where a bare realm cannot be had. */
export function checkRealm({ realm, language, functions = {} }: Asked, context: z.RefinementCtx): void {
  if (realm !== 'bare') return
  const refuse = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message })
  if (language !== 'javascript' && language !== 'typescript')
    refuse('realm', `"bare" is for javascript and typescript, and not for ${language}`)
  if (Object.keys(functions).length > 0)
    refuse('functions', 'a program in a bare realm cannot call functions')
}
