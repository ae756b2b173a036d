/** Turns a piece of work and its end into a statement. Pure. */
import { defaultLimits } from '../core/limits.ts'
import { nameNetwork } from '../core/network.ts'
import type { Protection } from '../core/protection.ts'
import type { StatedValidation, Statement } from '../core/receipt.ts'
import type { Validation } from '../core/validation.ts'
import type { RunWork, Work } from '../core/work.ts'
import type { WorkRecord } from './audit.ts'
import { digest, digestGiven } from './digest.ts'
import type { Given } from './digest.ts'

export interface Circumstances {
  /** When the work had ended. */
  readonly time: string
  /** The level that cells reach on this machine; undefined if that is not known. */
  readonly level?: Protection | undefined
}

/** For work without a statement yet. */
export function stateWork({ work, end, wallMs }: WorkRecord, { time, level }: Circumstances): Statement {
  const { outcome, exitCode, code, usage, validation } = end
  const protection = 'runtime' in work && work.runtime === 'snippet' ? 'wasm' : level
  return {
    version: 1,
    time,
    ...stateKind(work),
    ...stateValidation(validation),
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

/** What is known of it before it starts. */
export function stateKind(work: Work, given?: Given) {
  const { id, kind, client } = work
  return {
    id,
    kind,
    clientClass: client === undefined ? 'anonymous' : 'named',
    ...detailsOf(work, given),
  } as const
}

/** More than there are rules; an operator's own policy may throw findings too. */
const rulesMax = 32
const ruleName = /^[a-z-]{1,40}$/

export function stateValidation(validation: Pick<Validation, 'riskLevel' | 'findings'> | undefined): {
  readonly validation?: StatedValidation
} {
  if (validation === undefined) return {}
  const { riskLevel, findings } = validation
  const counts = new Map<string, number>()
  for (const { rule } of findings) {
    if (!ruleName.test(rule) || (counts.size === rulesMax && !counts.has(rule))) continue
    counts.set(rule, (counts.get(rule) ?? 0) + 1)
  }
  return { validation: { riskLevel, rules: Object.fromEntries(counts) } }
}

function detailsOf(work: Work, given: Given | undefined): Partial<Statement> {
  switch (work.kind) {
    case 'run': {
      const { language, network = 'none' } = work.spec
      return { language, runtime: work.runtime, network: nameNetwork(network), ...(given ?? givenOf(work)) }
    }
    case 'warm-up':
      return { language: work.language, runtime: work.runtime, count: work.count }
    case 'validation':
      return { language: work.language, code: digest(work.code) }
    case 'sandbox':
      return { network: nameNetwork(work.network) }
    case 'command':
    case 'process': {
      const { sandbox, command, credentials } = work
      return { sandbox, language: 'shell', code: digest(command), credentials: credentials.length }
    }
    case 'context':
      return {
        sandbox: work.sandbox,
        language: work.language,
        ...(work.service && { service: work.service }),
      }
    case 'code': {
      const { sandbox, context, language, code } = work
      return { sandbox, context, language, code: digest(code) }
    }
    case 'files':
      return { sandbox: work.sandbox, operation: work.operation }
    case 'port':
      return { sandbox: work.sandbox, port: work.port }
  }
}
