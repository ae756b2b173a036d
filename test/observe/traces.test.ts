/** Spans around work, as an OpenTelemetry SDK receives them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

import { createLazaret } from '../support/create-lazaret.ts'
import { traceWork } from '../../src/observe/traces/index.ts'

test('each piece of work is a span in the trace of its caller, without text from anybody', async () => {
  // Without an SDK nothing happens.
  traceWork({ type: 'work-ended' })
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const marker = 'MARKER-0ff1ce'
  await using lazaret = createLazaret({ onEvent: traceWork })
  const request = { language: 'shell', code: `echo ${marker}; exit 3`, client: marker } as const
  const parent = trace.getTracer('test').startSpan('parent')
  await context.with(trace.setSpan(context.active(), parent), async () => {
    await Promise.all([lazaret.run(request), lazaret.run(request)])
  })
  await lazaret.run({ language: 'shell', code: ':' })
  const spans = exporter.getFinishedSpans()
  assert.deepEqual(
    spans.map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId]),
    [
      ['lazaret run', parent.spanContext().spanId],
      ['lazaret run', parent.spanContext().spanId],
      ['lazaret run', undefined],
    ],
  )
  const { 'lazaret.id': _id, 'lazaret.queued_ms': _queued, ...attributes } = spans[0]?.attributes ?? {}
  assert.deepEqual(attributes, {
    'lazaret.kind': 'run',
    'lazaret.outcome': 'completed',
    'lazaret.client_class': 'named',
    'lazaret.exit_code': 3,
    'lazaret.runtime': 'shell',
  })
  assert.ok(!JSON.stringify(spans.map((span) => span.attributes)).includes(marker))
  assert.ok(spans.every(({ duration: [seconds, nanoseconds] }) => seconds + nanoseconds > 0))
})
