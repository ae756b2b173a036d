/** The stages of a run: it is checked, bounded, admitted, executed in a cell, and settled from evidence. */
import type { HostAccount } from '../../core/host-account.ts'
import { endInOrder } from '../../core/endings.ts'
import type { RunHandles, RunRequest, RunSpec } from '../../core/request.ts'
import type { RunResult } from '../../core/result.ts'
import type { Validation } from '../../core/validation.ts'
import { endOfProgram } from '../../core/work-end.ts'
import type { WorkEnd } from '../../core/work-end.ts'
import type { Attested, Notary } from '../../observe/notary.ts'
import type { Governor } from '../../policy/governor.ts'
import { validationOf } from '../../policy/validation/validated.ts'
import { neverBegan } from '../../pool/lease.ts'
import type { LeasedEnd } from '../../pool/lease.ts'
import type { PoolsStats } from '../../pool/pool.ts'
import type { Job, JobHandles } from '../../runtimes/work/guest-start.ts'
import type { Exit } from '../../result/exit.ts'
import { createResult } from '../../result/run-result.ts'
import { needsCell } from '../../runtimes/registry.ts'
import type { CellRuns } from './cell-runs.ts'
import type { Isolates, IsolateTurn } from './isolates.ts'
import type { Lifetime } from '../lifetime.ts'
import { parseRequest } from '../options/parse-request.ts'
import type { PlaceEnd, RunPlace } from './run-place.ts'
import type { Snippets } from './snippets.ts'
import { parseWarmUp } from '../warm-up.ts'
import type { WarmUpRequest } from '../warm-up.ts'
import { writeResult } from './write-result.ts'

export interface RunsParts {
  readonly governor: Governor
  readonly lifetime: Lifetime
  readonly nextId: () => string
  readonly cells: CellRuns
  readonly snippets: Snippets
  readonly isolates: Isolates
  /** Makes the statement about a run, if anybody needs it. */
  readonly notary: Notary | undefined
  readonly account: HostAccount
}

/** A run's result, with the evidence from which it was settled. */
export interface SettledRun {
  readonly result: RunResult
  readonly exit: Exit
  readonly attested?: Omit<Attested, 'result'>
  /** What validation found, if the program was read. */
  readonly validation?: Validation | undefined
}

/** A program to read. */
export type ValidationRequest = Pick<RunRequest, 'code' | 'language' | 'client' | 'signal'>

/** Where a run takes place, and what runs it there. */
interface Stage {
  readonly place: RunPlace
  readonly act: (job: Job) => Promise<PlaceEnd>
  /** Called when the run has ended. */
  readonly validation?: () => Validation | undefined
}

export class Runs implements AsyncDisposable {
  readonly #parts: RunsParts

  constructor(parts: RunsParts) {
    this.#parts = parts
  }

  async run(input: RunRequest): Promise<RunResult> {
    const { spec, handles } = parseRequest(input)
    const place = this.#placeOf(spec)
    const act = (job: Job) => place.run(job)
    const { result } = await this.#perform(spec, handles, {
      place,
      act,
      validation: () => validationOf(input),
    })
    return result
  }

  /** For an adapter that has checked the request itself, and needs the evidence too. */
  runIsolate(spec: RunSpec, handles: RunHandles, turn: IsolateTurn): Promise<SettledRun> {
    const { isolates } = this.#parts
    return this.#perform(spec, handles, { place: isolates, act: (job) => isolates.run(job, turn) })
  }

  /**
   * A run whose program an adapter reads after the run was admitted and before it begins. If `read` throws, this throws
   * the same, and the program does not run.
   */
  async runAfter(input: RunRequest, read: () => Promise<Validation | undefined>): Promise<RunResult> {
    const { spec, handles } = parseRequest(input)
    const place = this.#placeOf(spec)
    let validation: Validation | undefined
    const act = async (job: Job) => {
      validation = await read()
      return place.run(job)
    }
    const { result } = await this.#perform(spec, handles, { place, act, validation: () => validation })
    return result
  }

  /**
   * A run that is part of work that was already admitted, such as validating its program. Not for callers' programs.
   */
  async runWithin(input: RunRequest): Promise<RunResult> {
    const { lifetime, nextId } = this.#parts
    const { spec: asked, handles } = parseRequest(input)
    const place = this.#placeOf(asked)
    const { spec, runtime, limits, clamped } = place.plan(asked)
    const signal = lifetime.signalWith(handles.signal)
    const end = await place.run({ spec, handles: { ...handles, signal }, limits })
    void lifetime.track(end.cleaned).catch(() => undefined)
    const { protection } = place
    return createResult(
      writeResult({ id: nextId(), queuedMs: end.queuedMs, runtime, protection, limits, clamped }, end),
    )
  }

  /** Reads a program without running it; `read` may use `runWithin`. Throws what the policy and `read` throw. */
  validate(asked: ValidationRequest, read: () => Promise<Validation>): Promise<Validation> {
    const { governor, nextId, lifetime } = this.#parts
    const { code, language, client, signal: own } = asked
    // As much as `runWithin` uses for it; a thread reads JavaScript.
    const limits = language === 'python' ? { memoryBytes: this.#memoryOf(language) } : {}
    const work = { kind: 'validation', id: nextId(), client, language, code, limits } as const
    const signal = lifetime.signalWith(own)
    const unbegun = () => signal.throwIfAborted() as never
    return governor.perform(work, read, {
      signal,
      unbegun,
      endOf: (validation) => ({ outcome: 'done', validation }),
    })
  }

  #memoryOf(language: 'python'): number {
    return this.#parts.cells.plan({ code: '', language }).limits.memoryBytes
  }

  async #perform(asked: RunSpec, handles: JobHandles, stage: Stage): Promise<SettledRun> {
    const { place, act } = stage
    const { governor, lifetime, nextId, notary, account } = this.#parts
    const { spec, runtime, interpreter, limits, clamped } = place.plan(asked)
    const id = nextId()
    const signal = lifetime.signalWith(handles.signal)
    const work = { kind: 'run', id, client: spec.client, runtime, limits, spec } as const
    const settle = async (
      queuedMs: number,
      end: LeasedEnd,
      noted = notary?.note(work),
    ): Promise<SettledRun> => {
      const validation = stage.validation?.()
      const facts = { id, queuedMs, runtime, interpreter, protection: place.protection, limits, clamped }
      const data = writeResult(facts, end)
      if (noted === undefined) return { exit: end.exit, result: createResult(data), validation }
      const { result: signed, ...attested } = await noted.attest(data, validation)
      return { exit: end.exit, result: createResult(signed), attested, validation }
    }
    return governor.perform(
      work,
      async (begun) => {
        const noted = notary?.note(work)
        using outputRoom = account.reserve({ client: spec.client, kind: 'output' })
        const end = await act({ spec, handles: { ...handles, signal }, limits, outputRoom })
        // Its memory is not promised again before everything of it is gone.
        const giveBack = begun.keep()
        void lifetime.track(end.cleaned).then(giveBack, giveBack)
        return await settle(begun.queuedMs + end.queuedMs, end, noted)
      },
      { signal, unbegun: () => settle(0, neverBegan()), endOf },
    )
  }

  async warmUp(input: WarmUpRequest): Promise<void> {
    const { count = 1, ...request } = parseWarmUp(input)
    const { runtime, start } = this.#placeOf(request).planWarmUp(request)
    const { governor, nextId } = this.#parts
    const { language, network, preload, environment, client } = request
    const work = {
      kind: 'warm-up',
      id: nextId(),
      client,
      language,
      network,
      preload,
      ...(environment !== undefined && { environment }),
      runtime,
      count,
    } as const
    return governor.perform(work, () => start(count))
  }

  /** Idle workers are ended. */
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

function endOf({ result: { outcome, usage, receipt }, attested, validation }: SettledRun): WorkEnd {
  const { start, clamped } = receipt
  const read = validation === undefined ? {} : { validation }
  return { ...endOfProgram(outcome, receipt.network), usage, start, clamped, ...read, ...attested }
}
