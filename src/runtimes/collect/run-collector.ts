/** Runs the launcher's collector as a process of the cell. It is confined and checked like a guest. */
import type { Cell } from '../../jail/cell/cell.ts'
import type { ProcessListener } from '../../jail/cell/guest-process.ts'
import { unwatched } from '../../jail/limits/limit-rows.ts'
import { collectorRlimits } from '../../jail/limits/rlimits.ts'
import { readStatus, requirePromises } from '../work/observed.ts'

/** The facts of the cell that a collector needs. */
export interface CollectGround {
  /** The path at which guests find it. */
  readonly workspace: string
  /** See `CellPlan`. */
  readonly promises: Readonly<Record<string, string>>
}

export interface Collector {
  readonly task: 'list' | 'read'
  readonly ground: CollectGround
  readonly arguments: readonly string[]
  readonly stdin?: Uint8Array
  readonly outputBytes: number
  readonly wallMs: number
  readonly onBytes: (bytes: Buffer) => void
}

/** Resolves with whether it completed its task. Throws CELL_FAILED if it lacked a layer of the wall. */
export function runCollector(cell: Cell, collector: Collector): Promise<boolean> {
  const end = Promise.withResolvers<boolean>()
  const listener: ProcessListener = {
    onSpawned(status) {
      try {
        requirePromises(collector.ground.promises, readStatus(status))
      } catch (error) {
        end.reject(error)
        cell.end()
      }
    },
    onOutput: (stream, bytes) => stream === 'stdout' && collector.onBytes(bytes),
    onExceeded: () => end.resolve(false),
    onUsage: () => undefined,
    onExit: (report) => end.resolve(report.end.by === 'exit' && report.end.exitCode === 0),
  }
  const spec = {
    file: collector.task,
    argv: collector.arguments,
    env: {},
    folder: collector.ground.workspace,
    rlimits: collectorRlimits,
    ...(collector.stdin === undefined ? {} : { stdin: collector.stdin }),
    isCollector: true,
    outputBytes: collector.outputBytes,
    wallMs: collector.wallMs,
    watched: unwatched,
  }
  cell.spawn(spec, listener, () => end.resolve(false))
  void cell.gone.then(() => end.resolve(false))
  return end.promise
}
