/** The listener of a guest's channel, for one piece of work. */
import type { Reservation } from '../../core/host-account.ts'
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
  /** Counts what the host holds of its messages. Default: nothing counts. */
  readonly room?: Reservation | undefined
  /** The guest's bytes violate the protocol. No more are read. */
  readonly onMalformed?: () => void
  /** Receives calls of host functions, if the request has any. */
  readonly calls?: FunctionCalls | null
  /** For a harness without its own process, whose output is its console. */
  readonly onLog?: (entry: LogEntry) => void
  /** Called for each display when it arrives. */
  readonly onDisplay?: (bundle: MimeBundle, facts: DisplayFacts) => void
  /** Called when earlier displays are cleared: at once, or when the next display arrives. */
  readonly onClear?: (waits: boolean) => void
  /** Whether the guest stays alive after its `end` message: more work may follow, see `next()`. */
  readonly isLasting?: boolean
  /** Receives the messages that only some harnesses send: those without their own process, and those of code contexts. */
  readonly onOther?: (fields: Message['fields']) => void
}
