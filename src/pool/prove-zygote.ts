/** The first fork of an interpreter has to show that forks of it work on this machine: engines promise nothing of the kind. */
import { LazaretError } from '../core/errors/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { ReadyWorker } from '../runtimes/work/worker.ts'
import type { WorkerShape } from './shape.ts'

/** On a busy machine it takes a second; a fork that hangs is not waited for longer. */
const proofMs = 10_000

export interface ProofParts {
  readonly park: () => Promise<ReadyWorker>
  /** Of a request that asks for none. */
  readonly usual: Limits
  readonly signal: AbortSignal
}

/** Resolves when it has. Throws RUNTIME_UNAVAILABLE when it has not, and what `park` throws. */
export async function proveZygote(
  { runtime, language, realm }: WorkerShape,
  { park, usual, signal }: ProofParts,
): Promise<void> {
  const code = runtime.zygote?.proof
  if (code === undefined) return
  await using worker = await park()
  const limits = { ...usual, wallMs: proofMs, cpuMs: null }
  const end = await worker.run({ spec: { language, code, realm }, handles: { signal }, limits })
  await end?.cleaned
  const { value, error } = end?.exit.claims ?? {}
  if (value?.live === true) return
  const why = error?.error.message ?? JSON.stringify(end?.exit.end ?? 'it was lost')
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: `A fork of it behaved differently from a newly started process: ${why}`,
  })
}
