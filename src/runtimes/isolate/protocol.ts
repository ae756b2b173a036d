/**
 * What host and a worker of isolates say to each other, on the channel of channel-protocol.ts. First the host sends an
 * `IsolatesPark`, and the worker answers `parked`. Then the host sends one `IsolateRequest` after another; the worker answers
 * each with the messages of any harness, up to `end` or `stopped`.
 */
import type { GuestRequest } from '../channel-protocol.ts'

/** Where the text of a library is: in our build, or in this message. */
export type LibraryPlace = { readonly file: string } | { readonly source: string }

/** What the worker is told once. */
export interface IsolatesPark {
  readonly park: 'isolates'
  /** The heap of the isolates that are made before anybody asks for one. */
  readonly memoryMiB: number
  /** What programs may `require`, by name. */
  readonly libraries: Readonly<Record<string, LibraryPlace>>
}

/**
 * `service`: the program assigns `output`; input, what host functions are given and what they give are texts of JSON, so that
 * nothing in them is taken for a tag. `run`: the completion value counts, and values are encoded with tags.
 */
export type IsolateMode = 'service' | 'run'

export interface IsolateRequest extends GuestRequest {
  readonly isolate: {
    readonly mode: IsolateMode
    readonly memoryMiB: number
    readonly wallMs: number
  }
}

/** What a worker says beside what any harness says. It holds these limits; the host has its own deadline behind them. */
export type IsolateMessage =
  | { readonly type: 'stopped'; readonly by: 'wall' | 'memory' }
  /** Something that policy forbids; the program has not caught it. Its error went before. */
  | { readonly type: 'denied'; readonly what: string }
  /** What the program took of the isolate's heap, and of the processor. Before `end`. */
  | { readonly type: 'used'; readonly memoryBytes: number; readonly cpuMs: number }
