/** What a context's process reports while it executes one piece of code. */
import type { ProcessReport } from '../../jail/cell/guest-process.ts'
import type { Exceeded } from '../../result/exit.ts'
import type { Stream } from '../../result/capture.ts'
import type { ChannelListener } from '../../runtimes/channel/channel-listener.ts'

/** An end of a process that is not known, or was not requested. */
export interface ProcessLoss {
  /** Null if it is gone with its space. */
  readonly report: ProcessReport | null
  readonly oomKills: number
  readonly exceeded: Exceeded | null
}

/** The events for one piece of code. */
export interface EntryListener extends ChannelListener {
  readonly onOutput: (stream: Stream, bytes: Buffer) => void
  /** The process has ended, maybe before it could begin this. */
  readonly onLost: (loss: ProcessLoss) => void
}
