/** The events of a guest's channel that one piece of work needs. */
import type { DisplayFacts, LogEntry, MimeBundle } from '../../core/output.ts'
import type { FunctionCalls } from '../functions/function-calls.ts'
import type { HostBudget } from './host-budget.ts'
import type { Message } from './read-message.ts'

export interface ChannelListener {
  /** Milliseconds since the guest started. */
  readonly elapsed: () => number
  /** The guest has sent more than the bound for all its logs and results together. */
  readonly onFlood: () => void
  /** The guest reports the end of its program: its last message. */
  readonly onEnd: (exitCode: number) => void
  readonly budget: HostBudget
  /** The guest's bytes are not the protocol's: no more are read. */
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
