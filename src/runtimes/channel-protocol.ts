/**
 * What host and guest harness say to each other on the private descriptor (3 inside the cell, a stream socket).
 *
 * Each message is `u32 length` (little-endian, of the JSON alone), then that many bytes of UTF-8 JSON.
 * The host sends one `GuestRequest` and nothing else. The harness answers with any number of `GuestMessage`s.
 * The guest's own code can find this descriptor and write to it too: a message is a claim about the guest's
 * own value, logs and errors, never evidence of how the run ended.
 */
import type { LogEntry, MimeBundle } from '../core/result.ts'
import type { GuestError } from '../core/outcome.ts'

export const channelDescriptor = 3

/** The request as the harness receives it. */
export interface GuestRequest {
  readonly language: 'javascript' | 'typescript' | 'python'
  readonly code: string
  /** The input in the tagged encoding of `core/values.ts`; absent when the request has none. */
  readonly input?: unknown
  readonly args: readonly string[]
  /** The encoded value may not be longer than this many bytes of JSON; a longer one is replaced and marked. */
  readonly resultBytes: number
}

export type GuestMessage =
  /** One console call, sent before the same text goes to stdout or stderr. `text` is at most 64 KiB. */
  | { readonly type: 'log'; readonly level: LogEntry['level']; readonly text: string }
  /** The completion value (tagged) and how the language's REPL prints it (at most 64 KiB). Sent at most once. */
  | { readonly type: 'value'; readonly value: unknown; readonly text: string; readonly truncated: boolean }
  /** The code did not compile (`syntax`), or an error reached the top of the program (`run`). */
  | { readonly type: 'error'; readonly phase: 'syntax' | 'run'; readonly error: GuestError }
  /**
   * Something shown with display(), a figure, or a rich representation. `truncated` on the first that no longer fits
   * into `resultBytes` for all of them together; what did not fit is left out.
   */
  | { readonly type: 'display'; readonly bundle: MimeBundle; readonly truncated?: true }
