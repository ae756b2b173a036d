/**
 * The functions that the Node process of a worker and the inside of an isolate call on each other. Only strings and numbers
 * cross, so that neither side ever gets an object of the other.
 */
import type { Level } from '../../javascript/console/console-methods.ts'

/** Functions of the Node process. Guest code never gets one of them. */
export interface Outside {
  /** One call of a console method, as text. */
  readonly log: (level: Level, text: string) => void
  /** Starts a call of a host function. `argumentsJson` is a list. The answer arrives through `Inside.answer`. */
  readonly call: (id: number, name: string, argumentsJson: string) => void
  /** Returns this many random bytes, each as a character below U+0100. */
  readonly random: (bytes: number) => string
  /** The source of a library. `undefined` if no library has this name. */
  readonly librarySource: (name: string) => string | undefined
  /**
   * Reports an `IsolateOutcome`. A later call replaces an earlier one. The outcome is not the return value of a function of
   * `Inside`, because the Node process would hold long results in memory that V8 does not count.
   */
  readonly settle: (outcomeJson: string) => void
  /** Answers a `UrlQuestion` in JSON. `undefined` for an invalid URL. */
  readonly url: (questionJson: string) => string | undefined
}

export const urlParts = [
  ...(['href', 'origin', 'protocol', 'username', 'password', 'host'] as const),
  ...(['hostname', 'port', 'pathname', 'search', 'hash'] as const),
] as const
export type UrlPart = (typeof urlParts)[number]

export type UrlQuestion =
  /** The answer contains all parts of the URL. */
  | { readonly ask: 'parse'; readonly href: string; readonly base?: string }
  | { readonly ask: 'change'; readonly href: string; readonly part: UrlPart; readonly value: string }
  /** Parses a query, and serializes one. */
  | { readonly ask: 'pairs'; readonly query: string }
  | { readonly ask: 'query'; readonly pairs: readonly [string, string][] }

export interface IsolateProgram {
  readonly source: string
  /** `service`: a body that assigns `output`. `run`: a script whose completion value counts. */
  readonly mode: 'service' | 'run'
  /** JSON, in mode `run` with the tags of core/values/values.ts. */
  readonly input?: string
  /** Host functions: methods of `bridge` in mode `service`, else globals. */
  readonly calls: readonly string[]
  readonly maxCalls?: number
  /** Names of libraries that the program may require, in the order in which a message lists them. */
  readonly allowed: readonly string[]
  /** The limit on the result's JSON. */
  readonly maxBytes?: number
}

/** `memory`: the engine could not allocate memory for the program. */
export type FailureKind = 'runtime' | 'security' | 'syntax' | 'memory'

export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

/** The argument of `settle`, as JSON. */
export type IsolateOutcome =
  /** `output` is plain JSON, absent if undefined. `value` is encoded with tags; `truncated` says that a part is missing. */
  | {
      readonly state: 'completed'
      readonly output?: unknown
      readonly value?: unknown
      readonly truncated?: boolean
    }
  | { readonly state: 'failed'; readonly kind: FailureKind; readonly error: Failure }

/** Functions of the isolate. */
export interface Inside {
  /** Evaluates a library ahead of the program. */
  readonly load: (name: string) => void
  /** Takes an `IsolateProgram`; returns before its promises settle. Called once. */
  readonly start: (programJson: string) => void
  /** Answers a call. `json` is the result, or an error's `name` and `message`. */
  readonly answer: (id: number, isError: boolean, json: string) => void
  /**
   * Called with the error that a call of `start` or `answer` has thrown: isolated-vm reports unhandled rejections in this
   * way. Ends the program unless it has already failed.
   */
  readonly unhandled: (name: string, message: string, stack: string) => void
}

/** Replaces the word `import` in each `import()` of a program (`program/imports.ts`). It has the same length. */
export const importRefuser = '$imprt'
