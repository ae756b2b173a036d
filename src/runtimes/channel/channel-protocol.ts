/**
 * The messages between host and guest harness on the private descriptor (3 inside the cell, a stream socket).
 *
 * Each message is `u32 length` (little-endian, the length of the JSON), then the JSON, in UTF-8. To a parked guest the host
 * first sends a `ParkRequest`; the harness answers `{"type":"parked"}` when it has loaded what runs need. Then the host
 * sends one `GuestRequest`, and the harness any number of `GuestMessage`s. If the request has functions, the host answers
 * each `call` with one `HostMessage` of the same id, in the order in which the calls finish. Guest code can also write to
 * this descriptor. So a message is a claim about the guest's value, logs and errors, never evidence of how the run ended.
 */
import type { LogEntry, MimeBundle } from '../../core/output.ts'
import type { GuestError } from '../../core/outcome.ts'

export const channelDescriptor = 3

/** What to load ahead of a run. The run's request follows later. */
export interface ParkRequest {
  readonly park: GuestRequest['language']
  /** Absent for the runtime's own realm. */
  readonly realm?: 'bare'
  /** Modules and packages to load ahead for the program. */
  readonly preload: readonly string[]
  /** The workspace. Absent in a zygote's sample runs, which have none. */
  readonly folder?: string
}

/** The request as the harness receives it. */
export interface GuestRequest {
  readonly language: 'javascript' | 'typescript' | 'python'
  readonly code: string
  /** Absent for the runtime's own realm. */
  readonly realm?: 'bare'
  /** The input in the tagged encoding of docs/guide/values.md; absent when the request has none. */
  readonly input?: unknown
  readonly args: readonly string[]
  /** Variables that the process was not started with. */
  readonly env?: Readonly<Record<string, string>>
  /** The limit on the encoded value, in bytes of JSON. A longer value is truncated and marked. */
  readonly resultBytes: number
  /** Absent if there are none. */
  readonly functions?: GuestFunctions
}

export interface GuestFunctions {
  readonly names: readonly string[]
  /** More calls than this are refused, by the harness and by the host. */
  readonly callsMax: number
}

/**
 * The window of unanswered calls: how many a harness may have sent, and after how many bytes it stops sending. Further calls
 * are queued in the guest. If more arrive, the host stops reading. So a harness that respects the window never blocks.
 */
export const callsAtOnceMax = 1024
export const callBytesAtOnce = 4 * 1024 * 1024

export type HostMessage =
  | { readonly type: 'return'; readonly id: number; readonly value: unknown }
  | {
      readonly type: 'throw'
      readonly id: number
      readonly error: { readonly name: string; readonly message: string }
    }

export type GuestMessage =
  /** One console call, sent before the same text goes to stdout or stderr. `text` is at most 64 KiB. */
  | { readonly type: 'log'; readonly level: LogEntry['level']; readonly text: string }
  /** The completion value (tagged) and how the language's REPL prints it (at most 64 KiB). Sent at most once. */
  | { readonly type: 'value'; readonly value: unknown; readonly text: string; readonly truncated: boolean }
  /** The code did not compile (`syntax`), or an error reached the top of the program (`run`). */
  | { readonly type: 'error'; readonly phase: 'syntax' | 'run'; readonly error: GuestError }
  /**
   * Something shown with display(), a figure, or a rich representation. All displays together may take `resultBytes`;
   * parts that do not fit are omitted, and `truncated` is set on the first display that lacks one. With `update` it
   * replaces the display that has the same `id`.
   */
  | {
      readonly type: 'display'
      readonly bundle: MimeBundle
      readonly truncated?: true
      readonly id?: string
      readonly update?: true
    }
  /** Removes the displays shown so far: at once, or with `wait` when the next display arrives. */
  | { readonly type: 'clear'; readonly wait: boolean }
  /** In a code context: output or an error of this entry, which has ended, follows in the result of a later one. */
  | { readonly type: 'late'; readonly entry: number }
  /**
   * The last message: the program has ended with this exit code, and all its output is written. The host does not wait for
   * the process to exit, which takes some milliseconds. Guest code that sends this message ends its own run.
   */
  | { readonly type: 'end'; readonly exitCode: number }
  /** A call of a host function. `args` is one array in the tagged encoding, of at most `resultBytes`. */
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly args: readonly unknown[] }
