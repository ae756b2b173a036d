/** A snippet as work: every live Lazaret in this process admits and records it. */
import { systemClock } from '../../core/clock.ts'
import type { RunWork } from '../../core/work.ts'
import type { WorkEnd } from '../../core/work-end.ts'
import { performForAll } from '../../policy/standing-governors.ts'
import type { SnippetEnd } from '../../runtimes/snippet/thread.ts'
import type { SnippetJob } from '../../runtimes/snippet/thread-protocol.ts'
import type { RunJob } from './perform-snippet.ts'

export function governJob(run: RunJob, client?: string): RunJob {
  return (job, wallMs) =>
    performForAll({ ...describeJob(job, wallMs), client }, () => run(job, wallMs), endOf)
}

function describeJob({ source, input }: SnippetJob, wallMs: number): RunWork {
  const spec = { code: source, language: 'javascript', runtime: 'snippet', input } as const
  return { kind: 'run', id: systemClock.id(), runtime: 'snippet', limits: { wallMs }, spec }
}

function endOf({ end }: { readonly end: SnippetEnd }): WorkEnd {
  if (end.kind === 'output-full') return { outcome: 'limit-exceeded' }
  return { outcome: end.kind === 'failed' && end.phase === 'syntax' ? 'syntax-error' : end.kind }
}
