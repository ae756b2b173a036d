/** Assembles the parts of a Lazaret from its options. engine.ts has its life and end. */
import type { Clock } from '../core/clock.ts'
import type { HostAccount } from '../core/host-account.ts'
import type { LazaretError } from '../core/errors/errors.ts'
import type { BuildGround } from '../environments/build-ground.ts'
import { Environments } from '../environments/environments.ts'
import { environmentBytesUsual, usualFolder } from '../environments/environments-folder.ts'
import { Machine } from '../jail/machine/machine.ts'
import { Governor } from '../policy/governor.ts'
import type { Room } from '../policy/room.ts'
import { showFolders } from '../runtimes/packages/guest-packages.ts'
import { Toolchains } from '../runtimes/packages/toolchains.ts'
import { CellRuns } from './runs/cell-runs.ts'
import { createPolicy, openRoom } from './options/create-policy.ts'
import { Events } from './events.ts'
import type { EngineGround } from './ground.ts'
import { Isolates } from './runs/isolates.ts'
import type { IsolatesOptions } from './runs/isolates.ts'
import type { Lifetime } from './lifetime.ts'
import type { LazaretOptions, ParsedOptions } from './options/options.ts'
import { parseOptions } from './options/parse-options.ts'
import { openRecords } from './record-keeping.ts'
import type { RecordKeeping } from './record-keeping.ts'
import { Runs } from './runs/runs.ts'
import { Snippets } from './runs/snippets.ts'

export interface EngineParts {
  readonly events: Events
  readonly ground: EngineGround
  readonly records: RecordKeeping
  readonly room: Room
  readonly governor: Governor
  readonly isolates: Isolates
  readonly runs: Runs
}

/** Throws INVALID_REQUEST, JAIL_UNAVAILABLE, AUDIT_FAILED. */
export function createParts(
  asked: LazaretOptions,
  isolatesOptions: IsolatesOptions,
  { lifetime, openForBuild }: { readonly lifetime: Lifetime; readonly openForBuild: BuildGround['open'] },
): EngineParts {
  const { options, clock, room, account } = openRoom(parseOptions(asked))
  // Throws if `readable` uses the path of a package folder.
  showFolders(options)
  const events = new Events(asked)
  const ground = createGround(options, { clock, account, events, open: openForBuild })
  const { machine } = ground.wall
  const records = openRecords({ ...ground, level: () => machine.level, onFailed: events.tellOfAudit })
  const { audit, notary } = records
  const governor = new Governor({
    ...{ policy: createPolicy(options, { clock, room }), audit, clock, closing: lifetime.closing },
    onStarted: events.tellOfStart,
    onEnded: events.tellOfWork,
  })
  const isolates = new Isolates(ground, isolatesOptions)
  const runs = new Runs({
    ...{ governor, lifetime, notary, isolates, nextId: () => clock.id() },
    account,
    snippets: new Snippets({ clock, rules: options, threadsMax: options.pools.snippet?.max }),
    cells: new CellRuns(ground, {
      onFailing: (shape, reason) => events.tellOfFailing(shape, reason),
      onZygoteFailing: (shape, reason) => events.tellOfZygote(shape, reason),
    }),
  })
  return { events, ground, records, room, governor, isolates, runs }
}

interface GroundParts {
  readonly clock: Clock
  readonly account: HostAccount
  readonly events: Events
  readonly open: BuildGround['open']
}

function createGround(options: ParsedOptions, { clock, account, events, open }: GroundParts): EngineGround {
  const { access, uidRange, minimumProtection: minimum, toolchains } = options
  const offersPolicies = access.networks?.some((kind) => kind.endsWith('policy')) === true
  const machine = new Machine({ uidRange, offersPolicies, onSwept: events.tellOfSwept })
  const onRefusal = (refusal: LazaretError) => events.tellOfLowered(machine.level, refusal)
  const found = new Toolchains(toolchains)
  const { folder, bytesMax = environmentBytesUsual, packageHosts = [] } = options.environments
  const pythonVersion = () => found.pythonOf({ isOwnView: machine.wall === 'namespaces' })?.version ?? null
  return {
    ...{ options, clock, account, wall: { machine, minimum, onRefusal } },
    toolchains: found,
    environments: new Environments({
      folder: () => folder ?? usualFolder(),
      bytesMax,
      packageHosts,
      networks: access.networks ?? ['none'],
      clock,
      open,
      pythonVersion,
    }),
  }
}
