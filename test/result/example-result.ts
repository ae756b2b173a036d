/** A result of a run that printed nothing and returned nothing, but for the given parts. */
import type { RunData, RunResult } from '../../src/core/result.ts'
import { createResult } from '../../src/result/run-result.ts'
import type { TextData } from '../../src/result/to-text.ts'

export function exampleResult(parts: Partial<TextData> = {}): RunResult {
  return createResult({
    id: 'a',
    outcome: { kind: 'completed', exitCode: 0 },
    displays: [],
    files: {},
    executables: [],
    folders: [],
    missingFiles: [],
    logs: [],
    stdout: '',
    stderr: '',
    truncated: [],
    usage: { wallMs: 1.4, cpuMs: 1, memoryPeakBytes: 1, queuedMs: 0, outputBytes: 0 },
    receipt: { layers: [] as readonly string[] } as RunData['receipt'],
    ...parts,
  })
}
