/** Tests an interpreter's first fork, because no engine promises that its forks work. */
import { LazaretError } from '../core/errors/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { ReadyWorker } from '../runtimes/work/worker.ts'
import type { WorkerShape } from './shape.ts'

/** The test takes a second on a busy machine. A fork that takes longer counts as failed. */
const proofMs = 10_000

export interface ProofParts {
  readonly park: () => Promise<ReadyWorker>
  /** The limits of a request that names none. */
  readonly usual: Limits
  readonly signal: AbortSignal
}

/** Resolves if forks work. Throws RUNTIME_UNAVAILABLE if they do not, and what `park` throws. */
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
