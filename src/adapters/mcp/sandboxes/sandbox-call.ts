/** One call of a sandbox tool: its client, its arguments and its deadline. */
import type { z } from 'zod'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import type { ClientSandboxes } from './client-sandboxes.ts'

export interface SandboxCall<Args> {
  readonly sandboxes: ClientSandboxes
  readonly client: string
  readonly args: Args
  /** Aborts when the client cancels the call. */
  readonly signal: AbortSignal
  /** The revision of the protocol, if it is known. */
  readonly revision?: string | undefined
}

export type Called<Schema extends { readonly input: z.ZodType }> = SandboxCall<z.infer<Schema['input']>>

/** Throws SANDBOX_GONE. */
export function sandboxOf({
  sandboxes,
  client,
  args,
}: SandboxCall<{ readonly sandbox_id: string }>): Sandbox {
  return sandboxes.get(client, args.sandbox_id)
}
