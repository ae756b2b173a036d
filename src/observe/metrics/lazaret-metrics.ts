/** Counts a Lazaret's events, for Prometheus. Every label has few values, so a client's name is not a label. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

import type { NetworkTotals } from '../../core/network.ts'
import type { WorkKind, WorkOutcome } from '../../core/work.ts'

/** The values that a page shows for the moment when it is requested. */
export interface MeasuredLazaret {
  stats(): {
    readonly running: number
    readonly waiting: number
    readonly pools: readonly {
      readonly runtime: string
      readonly language: string
      readonly parked: number
      readonly starting: number
      readonly served: number
      readonly missed: number
    }[]
    readonly held: { readonly kinds: Readonly<Record<string, number>> }
  }
}

interface WorkEnded {
  readonly type: 'work-ended'
  readonly kind: WorkKind
  readonly outcome: WorkOutcome
  readonly wallMs: number
  readonly client?: string
  readonly code?: string
  readonly runtime?: string
  readonly queuedMs?: number
  readonly network?: NetworkTotals
}

/** From the fastest warm run to the default deadline and beyond. */
const durationBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const queueBuckets = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30]

/**
 * Listens to a Lazaret. It has its own registry, separate from the application's.
 *
 * @example
 * ```ts
 * const metrics = new LazaretMetrics()
 * const lazaret = createLazaret({ onEvent: metrics.hear })
 * response.setHeader('content-type', metrics.contentType).end(await metrics.page(lazaret))
 * ```
 */
export class LazaretMetrics {
  /** For `Registry.merge()` of prom-client. */
  readonly registry = new Registry()
  readonly contentType = this.registry.contentType
  readonly #counters = makeCounters(this.registry)
  readonly #gauges = makeGauges(this.registry)

  /** For `onEvent`. */
  readonly hear = (event: { readonly type: string }): void => {
    if (event.type === 'work-ended') this.#count(event as WorkEnded)
  }

  /** The page in Prometheus' text format. */
  page(lazaret: MeasuredLazaret): Promise<string> {
    this.#look(lazaret)
    return this.registry.metrics()
  }

  #count({ kind, outcome, wallMs, client, code, runtime, queuedMs, network }: WorkEnded): void {
    const { work, refusals, runs, durations, queued, connections, bytes, unreached } = this.#counters
    const clientClass = client === undefined ? 'anonymous' : 'named'
    work.inc({ kind, outcome, client_class: clientClass })
    if (outcome === 'refused' || outcome === 'fault') {
      refusals.inc({ kind, code: code ?? 'unknown' })
      return
    }
    durations.observe({ kind }, wallMs / 1000)
    if (runtime !== undefined) runs.inc({ runtime, outcome, client_class: clientClass })
    if (queuedMs !== undefined) queued.observe(queuedMs / 1000)
    if (network === undefined) return
    connections.inc(network.connections)
    bytes.inc({ direction: 'sent' }, network.sentBytes)
    bytes.inc({ direction: 'received' }, network.receivedBytes)
    unreached.inc(network.refusals)
  }

  #look(lazaret: MeasuredLazaret): void {
    const { running, waiting, workers, taken, held } = this.#gauges
    const stats = lazaret.stats()
    running.set(stats.running)
    waiting.set(stats.waiting)
    for (const [kind, bytes] of Object.entries(stats.held.kinds)) held.set({ kind }, bytes)
    workers.reset()
    taken.reset()
    // One runtime and language can have several pools, with different limits or modules.
    for (const { runtime, language, parked, starting, served, missed } of stats.pools) {
      workers.inc({ runtime, language, state: 'parked' }, parked)
      workers.inc({ runtime, language, state: 'starting' }, starting)
      taken.inc({ runtime, language, found: 'parked' }, served)
      taken.inc({ runtime, language, found: 'none' }, missed)
    }
  }
}

function makeCounters(registry: Registry) {
  const registers = [registry]
  return {
    work: new Counter({
      name: 'lazaret_work_total',
      help: 'Pieces of work that ended or were refused.',
      labelNames: ['kind', 'outcome', 'client_class'],
      registers,
    }),
    runs: new Counter({
      name: 'lazaret_runs_total',
      help: 'Runs that ended.',
      labelNames: ['runtime', 'outcome', 'client_class'],
      registers,
    }),
    refusals: new Counter({
      name: 'lazaret_refusals_total',
      help: 'Pieces of work that were refused, or failed because of Lazaret, by the code of the error.',
      labelNames: ['kind', 'code'],
      registers,
    }),
    durations: new Histogram({
      name: 'lazaret_work_duration_seconds',
      help: 'How long work took: of a run its own time, of other work from the request to the end.',
      labelNames: ['kind'],
      buckets: durationBuckets,
      registers,
    }),
    connections: new Counter({
      name: 'lazaret_network_connections_total',
      help: 'Connections of guests with a network policy.',
      registers,
    }),
    bytes: new Counter({
      name: 'lazaret_network_bytes_total',
      help: 'Bytes of these connections.',
      labelNames: ['direction'],
      registers,
    }),
    unreached: new Counter({
      name: 'lazaret_network_refusals_total',
      help: 'Names and connections that a policy refused, or that were not reached.',
      registers,
    }),
    queued: new Histogram({
      name: 'lazaret_run_queued_seconds',
      help: 'How long runs were queued, for room and for a worker.',
      buckets: queueBuckets,
      registers,
    }),
  }
}

function makeGauges(registry: Registry) {
  const registers = [registry]
  return {
    running: new Gauge({
      name: 'lazaret_runs_running',
      help: 'Runs between their request and their result.',
      registers,
    }),
    waiting: new Gauge({
      name: 'lazaret_runs_waiting',
      help: 'Runs that are queued for room or a worker, and sandboxes that are queued for room.',
      registers,
    }),
    held: new Gauge({
      name: 'lazaret_held_bytes',
      help: 'Bytes that clients make the server hold.',
      labelNames: ['kind'],
      registers,
    }),
    workers: new Gauge({
      name: 'lazaret_pool_workers',
      help: 'Workers that wait for a run, or are being started ahead.',
      labelNames: ['runtime', 'language', 'state'],
      registers,
    }),
    taken: new Gauge({
      name: 'lazaret_pool_runs',
      help: 'Runs that found a worker waiting, and runs that found none, in the pools that exist now.',
      labelNames: ['runtime', 'language', 'found'],
      registers,
    }),
  }
}
