/**
 * The messages between the host and a worker of isolates, on the channel of channel-protocol.ts. First the host sends an
 * `IsolatesPark`, and the worker answers `parked`. Then the host sends one `IsolateRequest` after another. The worker
 * answers each with the messages of other harnesses, up to `end` or `stopped`, and with three of its own:
 *
 * - `{ type: 'stopped', by: 'wall' | 'memory' }`: it ended the program at this limit. The host's own deadline is later.
 * - `{ type: 'denied', what }`: the program used something forbidden and did not catch the error.
 * - `{ type: 'used', memoryBytes, cpuMs, ready }`, before `end`: what the program used, and how many isolates are ready
 *   for programs like it.
 */
import type { GuestRequest } from '../channel/channel-protocol.ts'

/** Where the source of a library is: in a file of Lazaret's build, or in this message. */
export type LibraryPlace = { readonly file: string } | { readonly source: string }

/** The first message, which the worker gets once. */
export interface IsolatesPark {
  readonly park: 'isolates'
  /** The heap size of isolates that are created before the first request. */
  readonly memoryMiB: number
  /** The libraries that programs may `require`, by name. */
  readonly libraries: Readonly<Record<string, LibraryPlace>>
}

/**
 * `service`: the program assigns `output`. Its input, and the arguments and results of host functions, are JSON strings, so
 * that nothing in them is mistaken for a tag. `run`: the completion value counts, and values are encoded with tags.
 */
export type IsolateMode = 'service' | 'run'

export interface IsolateRequest extends GuestRequest {
  readonly isolate: {
    readonly mode: IsolateMode
    readonly memoryMiB: number
    readonly wallMs: number
  }
}
