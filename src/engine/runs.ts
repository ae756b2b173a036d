/** The story of a run: checked, bounded, admitted, executed behind a wall, settled from evidence. */
import { endInOrder } from '../core/endings.ts'
import type { RunHandles, RunRequest, RunSpec } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import { endOfProgram } from '../core/work-end.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Attested, Notary } from '../observe/notary.ts'
import type { Governor } from '../policy/governor.ts'
import { neverBegan } from '../pool/lease.ts'
import type { LeasedEnd } from '../pool/lease.ts'
import type { PoolsStats } from '../pool/pool.ts'
import type { Job } from '../runtimes/guest-start.ts'
import type { Exit } from '../result/exit.ts'
import { needsCell } from '../runtimes/registry.ts'
import type { CellRuns } from './cell-runs.ts'
import type { Isolates, IsolateTurn } from './isolates.ts'
import type { Lifetime } from './lifetime.ts'
import { parseRequest } from './parse-request.ts'
import type { PlaceEnd, RunPlace } from './run-place.ts'
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
  readonly isolates: Isolates
  /** States what a run was, where somebody wants to know. */
  readonly notary: Notary | undefined
}

/** A run's result, with the evidence that it was settled from. */
export interface SettledRun {
  readonly result: RunResult
  readonly exit: Exit
  readonly attested?: Omit<Attested, 'result'>
}

/** Where a run takes place, and how. */
interface Stage {
  readonly place: RunPlace
  readonly act: (job: Job) => Promise<PlaceEnd>
}

export class Runs implements AsyncDisposable {
  readonly #parts: RunsParts

  constructor(parts: RunsParts) {
    this.#parts = parts
  }

  async run(input: RunRequest): Promise<RunResult> {
    const { spec, handles } = parseRequest(input)
    const place = this.#placeOf(spec)
    const { result } = await this.#perform(spec, handles, { place, act: (job) => place.run(job) })
    return result
  }

  /** For a door that has checked the request itself, and wants the evidence as well. */
  runIsolate(spec: RunSpec, handles: RunHandles, turn: IsolateTurn): Promise<SettledRun> {
    const { isolates } = this.#parts
    return this.#perform(spec, handles, { place: isolates, act: (job) => isolates.run(job, turn) })
  }

  async #perform(asked: RunSpec, handles: RunHandles, { place, act }: Stage): Promise<SettledRun> {
    const { governor, lifetime, nextId, notary } = this.#parts
    const { spec, runtime, limits, clamped } = place.plan(asked)
    const id = nextId()
    const signal = lifetime.signalWith(handles.signal)
    const work = { kind: 'run', id, client: spec.client, runtime, limits, spec } as const
    const settle = async (
      queuedMs: number,
      end: LeasedEnd,
      noted = notary?.note(work),
    ): Promise<SettledRun> => {
      const facts = { id, queuedMs, runtime, protection: place.protection, limits, clamped }
      const result = writeResult(facts, end)
      if (noted === undefined) return { exit: end.exit, result }
      const { result: signed, ...attested } = await noted.attest(result)
      return { exit: end.exit, result: signed, attested }
    }
    return governor.perform(
      work,
      async (begun) => {
        const noted = notary?.note(work)
        const end = await act({ spec, handles: { ...handles, signal }, limits })
        // Its memory is promised to nobody else before the last of it is gone.
        const giveBack = begun.keep()
        void lifetime.track(end.cleaned).then(giveBack, giveBack)
        return settle(begun.queuedMs + end.queuedMs, end, noted)
      },
      { signal, unbegun: () => settle(0, neverBegan()), endOf },
    )
  }

  async warmUp(input: WarmUpRequest): Promise<void> {
    const { count = 1, ...request } = parseWarmUp(input)
    const { runtime, start } = this.#placeOf(request).planWarmUp(request)
    const { governor, nextId } = this.#parts
    const { language, network, preload } = request
    const work = { kind: 'warm-up', id: nextId(), language, network, preload, runtime, count } as const
    return governor.perform(work, () => start(count))
  }

  /** Workers that wait are ended. */
  async drain(): Promise<void> {
    const { cells, snippets, isolates } = this.#parts
    await Promise.all([cells.drain(), snippets.drain(), isolates.drain()])
  }

  get stats(): PoolsStats {
    const { cells, snippets, isolates } = this.#parts
    const { waiting, pools } = cells.stats
    return { waiting: waiting + snippets.waiting + isolates.waiting, pools }
  }

  [Symbol.asyncDispose](): Promise<void> {
    const { cells, snippets, isolates } = this.#parts
    const places = [snippets, isolates, cells]
    return endInOrder(
      'Runs could not be ended',
      places.map((place) => () => place[Symbol.asyncDispose]()),
    )
  }

  #placeOf(request: Pick<RunRequest, 'runtime'>): RunPlace {
    if (needsCell(request)) return this.#parts.cells
    return request.runtime === 'isolate' ? this.#parts.isolates : this.#parts.snippets
  }
}

function endOf({ result: { outcome, usage }, attested }: SettledRun): WorkEnd {
  return { ...endOfProgram(outcome), usage, ...attested }
}
