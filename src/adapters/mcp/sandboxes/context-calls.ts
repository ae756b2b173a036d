/** Creates, forks and closes the code contexts of a client's sandbox, by their names. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { LazaretError } from '../../../core/errors/errors.ts'
import { noRoom } from '../../../core/errors/no-room.ts'
import type { CodeContext } from '../../../sandbox/contexts/context-types.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import { sandboxOf } from './sandbox-call.ts'
import type { Called } from './sandbox-call.ts'
import type * as schemas from './sandbox-schemas.ts'

/** Contexts of one sandbox: each has an interpreter and reserved memory. */
const contextsMax = 16

/** Creates the context when its name is first used; concurrent calls with the same name get the same context. */
export async function contextOf(
  sandbox: Sandbox,
  id: string,
  language: CodeContext['language'] | undefined,
): Promise<string> {
  const known = sandbox.getCodeContext(id)
  if (known === undefined) {
    requireRoom(sandbox)
    await sandbox.createCodeContext({ id, ...(language !== undefined && { language }) })
  } else if (language !== undefined && known.language !== language)
    throw new LazaretError('INVALID_REQUEST', {
      detail: `context_id: ${JSON.stringify(id)} runs ${known.language}.`,
    })
  return id
}

/** Counts both the client's named contexts and those that the sandbox keeps for each language. */
export function requireRoom(sandbox: Sandbox): void {
  if (sandbox.listCodeContexts().length < contextsMax) return
  throw noRoom(
    `A sandbox has at most ${contextsMax} code contexts: close one with close_context.`,
    'Close one that is no longer needed, or continue in one that you have.',
  )
}

export async function forkContext(call: Called<typeof schemas.forkContext>): Promise<CallToolResult> {
  const { context_id: id, new_context_id: forkId } = call.args
  const sandbox = sandboxOf(call)
  const context = sandbox.getCodeContext(id)
  if (context === undefined) throw new LazaretError('CONTEXT_GONE', { detail: `Context ${id}.` })
  requireRoom(sandbox)
  await context.fork({ id: forkId })
  return {
    content: [{ type: 'text', text: `context_id: ${forkId}` }],
    structuredContent: { context_id: forkId },
  }
}

export async function closeContext(call: Called<typeof schemas.closeContext>): Promise<CallToolResult> {
  const isClosed = await sandboxOf(call).deleteCodeContext(call.args.context_id)
  return {
    content: [{ type: 'text', text: isClosed ? 'closed' : 'There is no context of this name.' }],
    structuredContent: { isClosed },
    ...(!isClosed && { isError: true }),
  }
}
