/** Runs cases from a list, a number of them at a time, and compares each with its right answer. */
import type { RunRequest, RunResult } from '../../src/index.ts'
import type { SoakCase } from './case.ts'

export interface MixPlan {
  readonly cases: Iterator<SoakCase>
  readonly runs: number
  readonly inFlight: number
  readonly run: (request: RunRequest) => Promise<RunResult>
  /** When it is aborted, no further run begins, and those in flight end normally. */
  readonly signal: AbortSignal
  readonly onEnd: (end: CaseEnd) => void
}

export interface CaseEnd {
  readonly kind: string
  /** From the request to the answer. */
  readonly ms: number
  /** How long after its wall limit a program was ended. */
  readonly lateMs?: number
  readonly wrong?: string
}

/** The longest case takes a minute. A run without an answer after this time will never have one. */
const answerMs = 150_000
const shownMax = 600

export async function runMix(plan: MixPlan): Promise<void> {
  let begun = 0
  const runOnAndOn = async (): Promise<void> => {
    while (begun < plan.runs && !plan.signal.aborted) {
      begun++
      const next = plan.cases.next().value as SoakCase
      plan.onEnd(await runCase(plan, next))
    }
  }
  await Promise.all(Array.from({ length: plan.inFlight }, runOnAndOn))
}

async function runCase({ run }: MixPlan, { kind, name, request, check }: SoakCase): Promise<CaseEnd> {
  const startedMs = performance.now()
  const result = await withinAnswerMs(run(request)).catch((error: unknown) => error as Error)
  const ms = performance.now() - startedMs
  if (result instanceof Error) return { kind, ms, wrong: `${name}: ${result.stack}` }
  const { outcome, usage } = result
  const isAtWall = outcome.kind === 'timed-out' && outcome.limit === 'wall'
  try {
    check(result)
    return { kind, ms, ...(isAtWall && { lateMs: usage.wallMs - outcome.limitMs }) }
  } catch (error) {
    const shown = JSON.stringify({ ...result, receipt: 0 }).slice(0, shownMax)
    return { kind, ms, wrong: `${name}: ${(error as Error).message}\n  ${shown}` }
  }
}

function withinAnswerMs(answer: Promise<RunResult>): Promise<RunResult> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${answerMs} ms`)), answerMs)
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer))
}
