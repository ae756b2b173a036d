/** A Lazaret: what its parts are made of, and how they end. The story of a run is in runs.ts. */
import { systemClock } from '../core/clock.ts'
import { endInOrder } from '../core/endings.ts'
import type { LazaretError } from '../core/errors.ts'
import type { RunRequest } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import { Machine } from '../jail/machine.ts'
import type { ProbeReport } from '../jail/probe-report.ts'
import { Governor } from '../policy/governor.ts'
import { Room } from '../policy/room.ts'
import { availableMemory, resolveRoom, withinRoom } from '../policy/room-size.ts'
import { stand } from '../policy/standing-governors.ts'
import { Toolchains } from '../runtimes/toolchains.ts'
import { Sandboxes } from '../sandbox/sandboxes.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'
import type { Lazaret, LazaretStats } from './api.ts'
import { CellRuns } from './cell-runs.ts'
import { createPolicy } from './create-policy.ts'
import { Events } from './events.ts'
import type { EngineGround } from './ground.ts'
import { Isolates } from './isolates.ts'
import type { IsolatesOptions } from './isolates.ts'
import { Lifetime } from './lifetime.ts'
import { namesOf, parseSandbox, showFolders } from './open-sandbox.ts'
import type { LazaretOptions } from './options.ts'
import { parseOptions } from './parse-options.ts'
import { probeMachine } from './probe.ts'
import { openRecords } from './record-keeping.ts'
import type { RecordKeeping } from './record-keeping.ts'
import { requireNode } from './require-node.ts'
import { Runs } from './runs.ts'
import { Snippets } from './snippets.ts'
import type { WarmUpRequest } from './warm-up.ts'

/**
 * Creates a Lazaret for this machine.
 *
 * @throws {LazaretError} INVALID_REQUEST for options that are wrong, JAIL_UNAVAILABLE where cells cannot exist,
 *   AUDIT_FAILED where the audit log cannot be opened.
 * @example
 * ```ts
 * await using lazaret = createLazaret({ ceilings: { wallMs: 10_000 } })
 * ```
 */
export function createLazaret(options: LazaretOptions = {}): Lazaret {
  requireNode()
  return new Engine(options)
}

/** For a door that decides more of its isolates than a Lazaret's options say. */
export function openEngine(options: LazaretOptions, isolates: IsolatesOptions): OpenEngine {
  requireNode()
  return Engine.open(options, isolates)
}

/** A Lazaret, and what of it is not for everybody. */
export interface OpenEngine {
  readonly lazaret: Lazaret
  readonly isolates: Isolates
  /** A run that a door has checked itself. */
  readonly runIsolate: Runs['runIsolate']
}

class Engine implements Lazaret {
  readonly #events: Events
  readonly #lifetime = new Lifetime(() => this.#endAll())
  readonly #ground: EngineGround
  readonly #records: RecordKeeping
  readonly #room: Room
  readonly #governor: Governor
  readonly #standDown: () => void
  readonly #runs: Runs
  readonly #sandboxes = new Sandboxes()
  readonly #isolates: Isolates

  constructor(asked: LazaretOptions, isolates: IsolatesOptions = {}) {
    const parsed = parseOptions(asked)
    const { uidRange, pools, clock = systemClock } = parsed
    const size = resolveRoom(parsed.queue, availableMemory)
    const options = { ...parsed, ceilings: withinRoom(parsed.ceilings, size) }
    this.#room = new Room({ ...size, clock })
    this.#events = new Events(asked)
    const machine = new Machine({ uidRange })
    const wall = {
      machine,
      minimum: options.minimumProtection,
      onRefusal: (refusal: LazaretError) => this.#events.tellOfLowered(machine.level, refusal),
    }
    this.#ground = { options, wall, clock, toolchains: new Toolchains(options.toolchains) }
    this.#records = openRecords({
      ...this.#ground,
      level: () => machine.level,
      onFailed: this.#events.tellOfAudit,
    })
    const { audit, notary } = this.#records
    const closing = this.#lifetime.signalWith(undefined)
    const policy = createPolicy(options, { clock, room: this.#room })
    this.#governor = new Governor({
      policy,
      audit,
      clock,
      closing,
      onEnded: this.#events.tellOfWork,
    })
    this.#standDown = stand(this.#governor)
    this.#isolates = new Isolates(this.#ground, isolates)
    this.#runs = new Runs({
      governor: this.#governor,
      lifetime: this.#lifetime,
      nextId: () => clock.id(),
      notary,
      isolates: this.#isolates,
      snippets: new Snippets({ clock, rules: options, threadsMax: pools.snippet?.max }),
      cells: new CellRuns(this.#ground, (shape, reason) => this.#events.tellOfFailing(shape, reason)),
    })
  }

  static open(options: LazaretOptions, isolates: IsolatesOptions): OpenEngine {
    const engine = new Engine(options, isolates)
    return {
      lazaret: engine,
      isolates: engine.#isolates,
      runIsolate: (...asked) => engine.#lifetime.during(() => engine.#runs.runIsolate(...asked)),
    }
  }

  run(input: RunRequest): Promise<RunResult> {
    return this.#lifetime.during(() => this.#runs.run(input))
  }

  warmUp(input: WarmUpRequest): Promise<void> {
    return this.#lifetime.during(() => this.#runs.warmUp(input))
  }

  sandbox(asked: SandboxOptions = {}): Promise<Sandbox> {
    return this.#lifetime.during(async () => {
      const parts = parseSandbox(asked, this.#ground)
      const { id, client, limits, folders } = parts
      const { network } = parts.shape
      const work = { kind: 'sandbox', id, client, limits, network, ...namesOf(folders) } as const
      const governor = this.#governor
      return governor.perform(work, async (begun) => {
        const giveBack = begun.keep()
        try {
          return await this.#sandboxes.create({ ...showFolders(parts, folders), governor }, giveBack)
        } catch (error) {
          giveBack()
          throw error
        }
      })
    })
  }

  listSandboxes(): readonly Sandbox[] {
    return this.#sandboxes.list()
  }

  drain(): Promise<void> {
    return this.#lifetime.track(this.#runs.drain())
  }

  stats(): LazaretStats {
    const { waiting, pools } = this.#runs.stats
    return { running: this.#governor.running('run'), waiting: waiting + this.#room.waiting, pools }
  }

  probe(): Promise<ProbeReport> {
    const { wall, toolchains } = this.#ground
    return this.#lifetime.track(probeMachine(wall, toolchains))
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#standDown()
    return this.#lifetime.end()
  }

  #endAll(): Promise<void> {
    return endInOrder('This Lazaret could not be ended', [
      () => this.#sandboxes[Symbol.asyncDispose](),
      () => this.#runs[Symbol.asyncDispose](),
      () => this.#lifetime.settled(),
      () => this.#records[Symbol.asyncDispose](),
      () => this.#ground.wall.machine[Symbol.asyncDispose](),
    ])
  }
}
