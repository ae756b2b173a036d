/** A Lazaret: its methods and its end. parts.ts creates its parts; runs.ts executes runs. */
import type { Clock } from '../core/clock.ts'
import type { HostAccount } from '../core/host-account.ts'
import { endInOrder } from '../core/endings.ts'
import type { Clamp } from '../core/limits.ts'
import type { RunRequest } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import type { EnvironmentsApi } from '../environments/environment.ts'
import type { ProbeReport } from '../jail/machine/probe-report.ts'
import type { Bind } from '../jail/plan/shape.ts'
import { describeLoweredDefaults } from '../policy/resolve-limits.ts'
import { stand } from '../policy/standing-governors.ts'
import { Sandboxes } from '../sandbox/sandboxes.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'
import type { CloseOptions, Lazaret, LazaretStats } from './api.ts'
import { parseGrace, within } from './close.ts'
import type { Isolates, IsolatesOptions } from './runs/isolates.ts'
import { Lifetime } from './lifetime.ts'
import { openSandbox } from './open-sandbox.ts'
import type { LazaretOptions } from './options/options.ts'
import { createParts } from './parts.ts'
import type { EngineParts } from './parts.ts'
import { probeMachine } from './probe.ts'
import type { Runs } from './runs/runs.ts'
import type { WarmUpRequest } from './warm-up.ts'

export class Engine implements Lazaret {
  readonly #lifetime = new Lifetime(() => this.#endAll())
  readonly #parts: EngineParts
  readonly #sandboxes = new Sandboxes()
  readonly #standDown: () => void

  constructor(asked: LazaretOptions, isolates: IsolatesOptions = {}) {
    this.#parts = createParts(asked, isolates, {
      lifetime: this.#lifetime,
      openForBuild: (options, binds) => this.#open(options, binds),
    })
    this.#standDown = stand(this.#parts.governor)
  }

  /**
   * Creates a Lazaret, and returns it with functions for this package's own adapters, such as runs whose requests the
   * adapter has already checked.
   */
  static open(
    options: LazaretOptions,
    asked: IsolatesOptions = {},
  ): Pick<Runs, 'runIsolate' | 'runAfter' | 'runWithin' | 'validate'> & {
    readonly lazaret: Lazaret
    readonly isolates: Isolates
    readonly clock: Clock
    readonly account: HostAccount
  } {
    const engine = new Engine(options, asked)
    const { ground, isolates, runs } = engine.#parts
    return {
      lazaret: engine,
      isolates,
      clock: ground.clock,
      account: ground.account,
      runIsolate: (...run) => engine.#lifetime.during(() => runs.runIsolate(...run)),
      runAfter: (...run) => engine.#lifetime.during(() => runs.runAfter(...run)),
      runWithin: (request) => runs.runWithin(request),
      validate: (...code) => engine.#lifetime.during(() => runs.validate(...code)),
    }
  }

  run(input: RunRequest): Promise<RunResult> {
    return this.#lifetime.during(() => this.#parts.runs.run(input))
  }

  warmUp(input: WarmUpRequest): Promise<void> {
    return this.#lifetime.during(() => this.#parts.runs.warmUp(input))
  }

  sandbox(asked: SandboxOptions = {}): Promise<Sandbox> {
    return this.#open(asked, [])
  }

  get environments(): EnvironmentsApi {
    return this.#parts.ground.environments
  }

  #open(asked: SandboxOptions, binds: readonly Bind[]): Promise<Sandbox> {
    const { ground, governor, events, records } = this.#parts
    const places = { ground, governor, sandboxes: this.#sandboxes, notary: records.notary, binds }
    return this.#lifetime.during(() => openSandbox(asked, { ...places, onGone: events.tellOfSandboxEnd }))
  }

  get clamped(): readonly Clamp[] {
    return describeLoweredDefaults(this.#parts.ground.options)
  }

  listSandboxes(): readonly Sandbox[] {
    return this.#sandboxes.list()
  }

  releaseWorkers(): Promise<void> {
    return this.#lifetime.track(this.#parts.runs.drain())
  }

  async close(options?: CloseOptions): Promise<void> {
    const graceMs = parseGrace(options)
    this.#lifetime.close()
    const idle = Promise.all([this.#lifetime.settled(), this.#parts.governor.settled(['run', 'command'])])
    await within(graceMs, idle, this.#parts.ground.clock)
    await this[Symbol.asyncDispose]()
  }

  stats(): LazaretStats {
    const { waiting, pools } = this.#parts.runs.stats
    return {
      running: this.#parts.governor.running('run'),
      waiting: waiting + this.#parts.room.waiting,
      pools,
      held: this.#parts.ground.account.stats,
    }
  }

  probe(): Promise<ProbeReport> {
    const { wall, toolchains } = this.#parts.ground
    return this.#lifetime.track(probeMachine(wall, toolchains))
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#standDown()
    return this.#lifetime.end()
  }

  #endAll(): Promise<void> {
    return endInOrder('This Lazaret could not be ended', [
      () => this.#sandboxes[Symbol.asyncDispose](),
      () => this.#parts.runs[Symbol.asyncDispose](),
      () => this.#lifetime.settled(),
      () => this.#parts.ground.environments[Symbol.asyncDispose](),
      () => this.#parts.records[Symbol.asyncDispose](),
      () => this.#parts.ground.wall.machine[Symbol.asyncDispose](),
    ])
  }
}
