/** The caller's handle of a code context. */
import type { LiveContext } from './code-context.ts'
import type { CodeContext, CodeResult, ForkOptions, RunCodeOptions } from './context-types.ts'

export interface ContextDoors {
  readonly runCode: (code: string, options: RunCodeOptions) => Promise<CodeResult>
  readonly interrupt: (context: LiveContext) => Promise<boolean>
  readonly complete: (context: LiveContext, text: string) => Promise<readonly string[]>
  readonly fork: (context: LiveContext, options?: ForkOptions) => Promise<CodeContext>
  readonly restart: (context: LiveContext) => Promise<void>
}

export function contextHandleOf(context: LiveContext, doors: ContextDoors): CodeContext {
  const { id, language, folder } = context.parts
  return {
    id,
    language,
    cwd: folder,
    get status() {
      return context.status
    },
    runCode: (code, options) => doors.runCode(code, { ...options, context: id }),
    interrupt: () => doors.interrupt(context),
    complete: (text) => doors.complete(context, text),
    fork: (options) => doors.fork(context, options),
    restart: () => doors.restart(context),
  }
}
