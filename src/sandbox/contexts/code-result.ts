/** The result of code in a context: as for a run, and the state of the context. */
import { perLimit } from '../../core/limits.ts'
import type { LimitName, Limits } from '../../core/limits.ts'
import type { ProtectionLevel } from '../../core/protection.ts'
import type { RunData } from '../../core/result.ts'
import type { ContextLanguage } from '../../core/work.ts'
import { writeReceipt } from '../../result/receipt.ts'
import { createResult } from '../../result/run-result.ts'
import type { EntryDone } from './code-context.ts'
import type { CodeResult } from './context-types.ts'

/** The plain data of a result. */
export interface CodeData extends RunData, Pick<CodeResult, 'context' | 'isStateKept' | 'note'> {}

export interface CodeFacts {
  readonly id: string
  readonly context: string
  readonly language: ContextLanguage
  readonly level: ProtectionLevel
  readonly limits: Limits
  readonly timeoutMs: number | null
}

const heldByHost: readonly LimitName[] = [
  ...(['codeBytes', 'inputBytes', 'outputBytes', 'resultBytes'] as const),
  ...(['functionCallsMax', 'functionMs', 'hostMs'] as const),
]
/** The limits that apply in a context, besides its time. */
const held: readonly LimitName[] = [
  ...(['memoryBytes', 'processesMax', 'openFilesMax', 'diskBytes'] as const),
  ...heldByHost,
]

export function writeCodeData(facts: CodeFacts, done: EntryDone): CodeData {
  const { id, context, language, level, limits, timeoutMs } = facts
  const { claims, evidence, start, outcome, stdout, stderr, truncated, usage, isStateKept, note } = done
  const { value } = claims
  const values = { ...perLimit((name) => (held.includes(name) ? limits[name] : null)), wallMs: timeoutMs }
  const by = perLimit((name) => {
    if (name === 'wallMs') return timeoutMs === null ? 'none' : 'host'
    if (heldByHost.includes(name)) return 'host'
    return held.includes(name) ? evidence.heldBy[name] : 'none'
  })
  const runtime = language === 'python' ? 'python' : 'node'
  return {
    id,
    context,
    outcome,
    ...(value === undefined ? {} : { value: value.live, valueTagged: value.tagged, valueText: value.text }),
    displays: claims.displays,
    files: {},
    executables: [],
    folders: [],
    missingFiles: [],
    logs: claims.logs,
    stdout,
    stderr,
    truncated,
    usage,
    receipt: writeReceipt(
      { start, runtime, protection: level, limits: values, clamped: [] },
      { ...evidence, heldBy: by },
    ),
    isStateKept,
    ...(note === undefined ? {} : { note }),
  }
}

export function createCodeResult(data: CodeData): CodeResult {
  return createResult(data)
}

/** For code that was cancelled in the queue, so nothing protected it. */
export const unbegun: Omit<EntryDone, 'isStateKept'> = {
  outcome: { kind: 'cancelled' },
  claims: { logs: [], displays: [] },
  stdout: '',
  stderr: '',
  truncated: [],
  usage: { wallMs: 0, cpuMs: 0, memoryPeakBytes: 0, queuedMs: 0, outputBytes: 0 },
  evidence: { layers: [], observed: {}, heldBy: perLimit(() => 'none') },
  start: 'cold',
}
