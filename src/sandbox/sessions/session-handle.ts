/** The caller's handle of a session. */
import { checkKeys, execKeys } from '../checks.ts'
import type { Session } from './session.ts'
import type { ExecOptions, ExecResult, SandboxSession } from '../types.ts'

export function handleOf(
  session: Session,
  exec: (command: string, options: ExecOptions) => Promise<ExecResult>,
): SandboxSession {
  return {
    id: session.id,
    get cwd() {
      return session.folder
    },
    exec: async (command, options) =>
      exec(command, { ...checkKeys(options, execKeys), sessionId: session.id }),
  }
}
