/** Each piece of work as a span, in the trace of its caller. No attribute is text from a caller or a guest. */
import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes } from '@opentelemetry/api'

import { systemClock } from '../../core/clock.ts'
import type { WorkKind, WorkOutcome } from '../../core/work.ts'

interface WorkEnded {
  readonly type: 'work-ended'
  readonly kind: WorkKind
  readonly id: string
  readonly outcome: WorkOutcome
  readonly wallMs: number
  readonly client?: string
  readonly code?: string
  readonly exitCode?: number
  readonly runtime?: string
  readonly queuedMs?: number
}

/**
 * For `onEvent`. Without a registered SDK it does nothing. The span is created when the work has ended, with the time
 * at which it began. Events are emitted in the caller's context, so the parent is the span that was active there.
 *
 * @example
 * ```ts
 * const lazaret = createLazaret({ onEvent: traceWork })
 * ```
 */
export function traceWork(event: { readonly type: string }): void {
  if (event.type !== 'work-ended') return
  const ended = event as WorkEnded
  const endTime = Date.parse(systemClock.timestamp())
  const startTime = endTime - ended.wallMs
  const options = { startTime, attributes: attributesOf(ended) }
  const span = trace.getTracer('lazaret').startSpan(`lazaret ${ended.kind}`, options, context.active())
  if (ended.outcome === 'fault') span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(endTime)
}

function attributesOf({
  kind,
  id,
  outcome,
  client,
  code,
  exitCode,
  runtime,
  queuedMs,
}: WorkEnded): Attributes {
  return {
    'lazaret.kind': kind,
    'lazaret.id': id,
    'lazaret.outcome': outcome,
    'lazaret.client_class': client === undefined ? 'anonymous' : 'named',
    ...(code === undefined ? {} : { 'lazaret.error': code }),
    ...(exitCode === undefined ? {} : { 'lazaret.exit_code': exitCode }),
    ...(runtime === undefined ? {} : { 'lazaret.runtime': runtime }),
    ...(queuedMs === undefined ? {} : { 'lazaret.queued_ms': queuedMs }),
  }
}
