/**
 * What the host and a worker of isolates send each other, on the channel of channel-protocol.ts. First the host sends an
 * `IsolatesPark`, and the worker answers `parked`. Then the host sends one `IsolateRequest` after another. The worker
 * answers each with the messages of any harness, up to `end` or `stopped`, and with three of its own:
 *
 * - `{ type: 'stopped', by: 'wall' | 'memory' }`: it ended the program at this limit. The host's own deadline is later.
 * - `{ type: 'denied', what }`: the program used something forbidden, and did not catch the error, which came before.
 * - `{ type: 'used', memoryBytes, cpuMs, ready }`, before `end`: what the program used, and how many isolates are ready
 *   for programs like it.
 */
import type { GuestRequest } from '../channel/channel-protocol.ts'

/** The source of a library: Lazaret's build, or this message. */
export type LibraryPlace = { readonly file: string } | { readonly source: string }

/** The message that the worker gets once. */
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
