/** The programs of a sandbox's code contexts, and the checks of their callers' arguments. */
import { z } from 'zod'

import { LazaretError } from '../core/errors/errors.ts'
import type { HostFunction } from '../core/request.ts'
import type { ContextLanguage } from '../core/work.ts'
import type { Bind } from '../jail/plan/shape.ts'
import { readInput } from '../policy/hostile-input.ts'
import { parsing, sayIssues } from '../policy/schemas.ts'
import { planJavaScriptContext } from '../runtimes/node/context.ts'
import { planPythonContext } from '../runtimes/python/context.ts'
import type { PackageFolders } from '../runtimes/packages/guest-packages.ts'
import type { Toolchains } from '../runtimes/packages/toolchains.ts'
import type { ContextProgram, ContextPrograms } from '../sandbox/contexts/context-program.ts'
import { checkFunctions, functionsSchema } from './options/function-names.ts'

/** If a language is unavailable, only requests for that language are refused. */
export function planContexts(toolchains: Toolchains, packages: PackageFolders): ContextPrograms {
  const javascript = planOrRefuse(() => planJavaScriptContext(toolchains, packages))
  return {
    python: planOrRefuse(() => planPythonContext(toolchains, packages)),
    javascript,
    typescript: javascript,
  }
}

function planOrRefuse(plan: () => ContextProgram): ContextProgram | LazaretError {
  try {
    return plan()
  } catch (error) {
    if (error instanceof LazaretError) return error
    throw error
  }
}

/** The folders and files that a sandbox has to show for these programs. */
export function bindsOf(programs: ContextPrograms): Bind[] {
  return Object.values(programs).flatMap((program) => (program instanceof LazaretError ? [] : program.binds))
}

const schema = z.object({ functions: functionsSchema.optional() })

/** Throws INVALID_REQUEST. */
export function readFunctions(
  functions: unknown,
  language: ContextLanguage,
): Readonly<Record<string, HostFunction>> {
  const own = schema.superRefine((given, context) => checkFunctions({ ...given, language }, context))
  const parsed = readInput(() => own.safeParse({ functions }, parsing))
  if (!parsed.success) throw new LazaretError('INVALID_REQUEST', { detail: sayIssues(parsed.error) })
  return parsed.data.functions ?? {}
}
