/** A piece of work and its end become what is stated of it. Pure. */
import { defaultLimits } from '../core/limits.ts'
import type { Protection } from '../core/protection.ts'
import type { Statement } from '../core/receipt.ts'
import type { RunWork, Work } from '../core/work.ts'
import type { WorkRecord } from './audit.ts'
import { digest, digestGiven } from './digest.ts'
import type { Given } from './digest.ts'

export interface Circumstances {
  /** When the work had ended. */
  readonly time: string
  /** The level that cells here reach; undefined where that is not known. */
  readonly level?: Protection | undefined
}

/** For work that nobody has stated anything of before. */
export function stateWork({ work, end, wallMs }: WorkRecord, { time, level }: Circumstances): Statement {
  const { outcome, exitCode, code, usage } = end
  const protection = 'runtime' in work && work.runtime === 'snippet' ? 'wasm' : level
  return {
    version: 1,
    time,
    ...stateKind(work),
    outcome,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(code === undefined ? {} : { error: code }),
    durationMs: usage?.wallMs ?? wallMs,
    ...(usage === undefined ? {} : { usage }),
    ...(protection === undefined ? {} : { protection }),
  }
}

export function givenOf({ spec, limits }: RunWork): Given {
  return digestGiven(spec, limits.inputBytes ?? defaultLimits.inputBytes)
}

/** What is known of it before it begins. */
export function stateKind(work: Work, given?: Given) {
  const { id, kind, client } = work
  return {
    id,
    kind,
    clientClass: client === undefined ? 'anonymous' : 'named',
    ...detailsOf(work, given),
  } as const
}

function detailsOf(work: Work, given: Given | undefined): Partial<Statement> {
  switch (work.kind) {
    case 'run': {
      const { language, network = 'none' } = work.spec
      return { language, runtime: work.runtime, network, ...(given ?? givenOf(work)) }
    }
    case 'warm-up':
      return { language: work.language, runtime: work.runtime, count: work.count }
    case 'sandbox':
      return { network: work.network }
    case 'command':
    case 'process': {
      const { sandbox, command, credentials } = work
      return { sandbox, language: 'shell', code: digest(command), credentials: credentials.length }
    }
    case 'files':
      return { sandbox: work.sandbox, operation: work.operation }
  }
}
