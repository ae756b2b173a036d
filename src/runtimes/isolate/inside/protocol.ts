/**
 * What the Node process of a cell and the inside of one of its isolates call of each other. Only texts and numbers pass, so
 * that no object of one heap is ever in the hands of the other.
 */
import type { Level } from '../../javascript/console/console-methods.ts'

/** Functions of the Node process. Guest code never gets one of them. */
export interface Outside {
  /** One call of a console method, as text. */
  readonly log: (level: Level, text: string) => void
  /** Starts a call of a host function; `argumentsJson` is a list. The answer comes by `Inside.answer`. */
  readonly call: (id: number, name: string, argumentsJson: string) => void
  /** This many random bytes, each a character below U+0100. */
  readonly random: (bytes: number) => string
  /** The text of a library; `undefined` if there is none of this name. */
  readonly librarySource: (name: string) => string | undefined
  /**
   * How the program ended: an `IsolateOutcome`. A later call replaces what an earlier one said. It is not the result of a
   * function of `Inside`, because the Node process would keep long results in memory that V8 does not count.
   */
  readonly settle: (outcomeJson: string) => void
  /** Answers a `UrlQuestion`, in JSON; `undefined` for an invalid URL. */
  readonly url: (questionJson: string) => string | undefined
}

export const urlParts = [
  ...(['href', 'origin', 'protocol', 'username', 'password', 'host'] as const),
  ...(['hostname', 'port', 'pathname', 'search', 'hash'] as const),
] as const
export type UrlPart = (typeof urlParts)[number]

export type UrlQuestion =
  /** Answered with all parts. */
  | { readonly ask: 'parse'; readonly href: string; readonly base?: string }
  | { readonly ask: 'change'; readonly href: string; readonly part: UrlPart; readonly value: string }
  /** Of a query, and back. */
  | { readonly ask: 'pairs'; readonly query: string }
  | { readonly ask: 'query'; readonly pairs: readonly [string, string][] }

export interface IsolateProgram {
  readonly source: string
  /** `service`: a body that assigns `output`. `run`: a script whose completion value counts. */
  readonly mode: 'service' | 'run'
  /** JSON; in mode `run` with the tags of core/values/values.ts. */
  readonly input?: string
  /** Host functions: methods of `bridge` in mode `service`, else globals. */
  readonly calls: readonly string[]
  readonly maxCalls?: number
  /** Names of libraries that the program may require, in the order in which a message lists them. */
  readonly allowed: readonly string[]
  /** Of the result as JSON. */
  readonly maxBytes?: number
}

/** `memory`: the engine could not allocate what the program wanted. */
export type FailureKind = 'runtime' | 'security' | 'syntax' | 'memory'

export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

/** The argument of `settle`, as JSON. */
export type IsolateOutcome =
  /** `output` is plain JSON, and absent when undefined; `value` is encoded with tags, `truncated` if a part is missing. */
  | {
      readonly state: 'completed'
      readonly output?: unknown
      readonly value?: unknown
      readonly truncated?: boolean
    }
  | { readonly state: 'failed'; readonly kind: FailureKind; readonly error: Failure }

/** Of the isolate. */
export interface Inside {
  /** Evaluates a library ahead of the program. */
  readonly load: (name: string) => void
  /** Takes an `IsolateProgram`; returns before its promises settle. Called once. */
  readonly start: (programJson: string) => void
  /** The JSON of a result, or of an error's `name` and `message`. */
  readonly answer: (id: number, isError: boolean, json: string) => void
  /**
   * For what a call of `start` or `answer` throws: the isolate reports an unhandled promise rejection in this way. Ends
   * the program unless it has failed already.
   */
  readonly unhandled: (name: string, message: string, stack: string) => void
}

/** What each `import()` of a program calls instead (`program/imports.ts`): as long as the word, so that columns stay. */
export const importRefuser = '$imprt'
