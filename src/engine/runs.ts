/** The story of a run: checked, bounded, admitted, executed behind a wall, settled from evidence. */
import { endInOrder } from '../core/endings.ts'
import type { RunRequest } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import type { Governor } from '../policy/governor.ts'
import { neverBegan } from '../pool/lease.ts'
import type { LeasedEnd } from '../pool/lease.ts'
import type { PoolsStats } from '../pool/pool.ts'
import { needsCell } from '../runtimes/registry.ts'
import type { CellRuns } from './cell-runs.ts'
import type { Lifetime } from './lifetime.ts'
import { parseRequest } from './parse-request.ts'
import type { RunPlace } from './run-place.ts'
import type { Snippets } from './snippets.ts'
import { parseWarmUp } from './warm-up.ts'
import type { WarmUpRequest } from './warm-up.ts'
import { writeResult } from './write-result.ts'

export interface RunsParts {
  readonly governor: Governor
  readonly lifetime: Lifetime
  readonly nextId: () => string
  readonly cells: CellRuns
  readonly snippets: Snippets
}

export class Runs implements AsyncDisposable {
  readonly #parts: RunsParts

  constructor(parts: RunsParts) {
    this.#parts = parts
  }

  async run(input: RunRequest): Promise<RunResult> {
    const { governor, lifetime, nextId } = this.#parts
    const { spec: asked, handles } = parseRequest(input)
    const place = this.#placeOf(asked)
    const { spec, runtime, limits, clamped } = place.plan(asked)
    const id = nextId()
    const signal = lifetime.signalWith(handles.signal)
    const settle = (queuedMs: number, end: LeasedEnd): RunResult =>
      writeResult({ id, queuedMs, runtime, protection: place.protection, limits, clamped }, end)
    const work = { kind: 'run', id, client: spec.client, runtime, limits, spec } as const
    return governor.perform(
      work,
      async (begun) => {
        const end = await place.run({ spec, handles: { ...handles, signal }, limits })
        void lifetime.track(end.cleaned)
        return settle(begun.queuedMs + end.queuedMs, end)
      },
      {
        signal,
        unbegun: () => settle(0, neverBegan()),
        endOf: ({ outcome, usage }) => ({ outcome: outcome.kind, usage }),
      },
    )
  }

  async warmUp(input: WarmUpRequest): Promise<void> {
    const { count = 1, ...request } = parseWarmUp(input)
    const { runtime, start } = this.#placeOf(request).planWarmUp(request)
    const { governor, nextId } = this.#parts
    const work = { kind: 'warm-up', id: nextId(), language: request.language, runtime, count } as const
    return governor.perform(work, () => start(count))
  }

  /** Workers that wait are ended. */
  async drain(): Promise<void> {
    await Promise.all([this.#parts.cells.drain(), this.#parts.snippets.drain()])
  }

  get stats(): PoolsStats {
    const { waiting, pools } = this.#parts.cells.stats
    return { waiting: waiting + this.#parts.snippets.waiting, pools }
  }

  [Symbol.asyncDispose](): Promise<void> {
    const { cells, snippets } = this.#parts
    const places = [snippets, cells]
    return endInOrder(
      'Runs could not be ended',
      places.map((place) => () => place[Symbol.asyncDispose]()),
    )
  }

  #placeOf(request: Pick<RunRequest, 'runtime'>): RunPlace {
    return needsCell(request) ? this.#parts.cells : this.#parts.snippets
  }
}
