/** The events of a guest's channel that one piece of work needs. */
import type { DisplayFacts, LogEntry, MimeBundle } from '../../core/output.ts'
import type { FunctionCalls } from '../functions/function-calls.ts'
import type { HostBudget } from './host-budget.ts'
import type { Message } from './read-message.ts'

export interface ChannelListener {
  /** Milliseconds since the guest started. */
  readonly elapsed: () => number
  /** The guest has sent more than all its logs and results together may take. */
  readonly onFlood: () => void
  /** The guest says that its program is over: the last that it has to say. */
  readonly onEnd: (exitCode: number) => void
  readonly budget: HostBudget
  /** What the guest wrote is not our protocol: nothing more is read of it. */
  readonly onMalformed?: () => void
  /** Receives calls of host functions, if the request has any. */
  readonly calls?: FunctionCalls | null
  /** For a harness without its own process, whose output is its console. */
  readonly onLog?: (entry: LogEntry) => void
  /** Called for each display when it arrives. */
  readonly onDisplay?: (bundle: MimeBundle, facts: DisplayFacts) => void
  /** Called when earlier displays are cleared: at once, or when the next display arrives. */
  readonly onClear?: (waits: boolean) => void
  /** Whether the guest continues after it reported that it is done: more work may follow, see `next()`. */
  readonly isLasting?: boolean
  /** For a harness without its own process: its messages in addition to those of any harness. */
  readonly onOther?: (fields: Message['fields']) => void
}
