/** What a caller asks for: one piece of code, and what comes with it. */
import type { Limits } from './limits.ts'

export const languages = ['javascript', 'typescript', 'python', 'shell'] as const
export type Language = (typeof languages)[number]

export const cellRuntimeNames = ['bun', 'node', 'python', 'shell'] as const
/** How a language runs in a cell. */
export type CellRuntimeName = (typeof cellRuntimeNames)[number]

/** Those whose interpreter an operator may name; the shell is the machine's own. */
export type ToolchainName = Exclude<CellRuntimeName, 'shell'>
export const toolchainNames = cellRuntimeNames.filter((name): name is ToolchainName => name !== 'shell')

export const runtimeNames = [...cellRuntimeNames, 'snippet', 'isolate'] as const
/** How a language runs. */
export type RuntimeName = (typeof runtimeNames)[number]

export const networkModes = ['none', 'host'] as const
export type NetworkMode = (typeof networkModes)[number]

export const realms = ['runtime', 'bare'] as const
/** What a program in JavaScript finds beside the language. */
export type Realm = (typeof realms)[number]

/** What of a request can be written down. Only `code` and `language` are required. */
interface RunFields {
  /** The program's text. */
  readonly code: string
  /** In TypeScript all syntax works and no type is checked; decorators are those of `experimentalDecorators`. */
  readonly language: Language
  /**
   * Default: bun for javascript and typescript, else the language's own. `snippet` is for javascript that only computes:
   * it reads `input`, a string, with `read_input()`, writes to stdout with `emit(text)`, and needs no cell. `isolate` is
   * for javascript and typescript that needs no process: no files, no network, no timers, but some libraries.
   */
  readonly runtime?: RuntimeName
  /**
   * The globals of a program in JavaScript or TypeScript. `runtime`: those of Bun or Node. `bare`, in Bun: the language's,
   * `console` and `input`; no `process`, `require`, `import()`, `fetch`, timers or WebAssembly. Then a value with a
   * `toJSON` is what that returns, and what the console shows of an object is JSON. It hides names; what holds is the cell,
   * which is the same for both. Default `runtime`.
   */
  readonly realm?: Realm
  /** A structured value: `input` in JavaScript, `input_data` in Python, the file named by `$INPUT` in shell. */
  readonly input?: unknown
  /** The program's argv, after its own name. */
  readonly args?: readonly string[]
  /** Files placed in /workspace before the run; keys are relative paths. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /**
   * Globs of files to bring back from /workspace when the program has ended: `*`, `**`, `?`, `[a-z]`, `{a,b}`. Hidden
   * names have to be named; the name of a folder brings all that is in it. Links, pipes and devices are left out.
   */
  readonly collect?: readonly string[]
  /**
   * Python modules, such as `numpy`, that parked workers have imported when the run begins; a run that finds none waiting
   * imports them when the program does. Default: the operator's `preload`.
   */
  readonly preload?: readonly string[]
  /** What the program reads from standard input. Default: empty. */
  readonly stdin?: string | Uint8Array
  /**
   * Environment variables, added to the few that every guest finds. Nothing of the host's environment is passed on. A
   * process gets them at its start, so Python, Bun and Node are started for such a run and not taken from a pool.
   */
  readonly env?: Readonly<Record<string, string>>
  /** Clamped to the operator's ceilings; the receipt says so. */
  readonly limits?: Partial<Limits>
  /** Default `none`: an empty network namespace with a loopback of its own. */
  readonly network?: NetworkMode
  /** Who asks: for rate limits, audit and fairness. */
  readonly client?: string
}

/** What of a request lives in the caller's process, and cannot leave it. */
export interface RunHandles {
  /**
   * Functions of the host that the guest's code may call by name: in JavaScript they return promises; in Python they
   * block, or are awaited where an event loop runs. Not for shell. Their arguments are the guest's: check them.
   */
  readonly functions?: Readonly<Record<string, HostFunction>>
  /** Aborting it kills the run; the outcome is `cancelled`. */
  readonly signal?: AbortSignal
  /**
   * Called for each piece of output as it happens. The pieces of one stream come in order and none is lost; between
   * stdout and stderr the order is that of writing, except for what was written at the same moment (two pipes cannot
   * tell). While a promise that it returned is pending it is not called again: the guest waits when it goes on
   * writing, and its time runs. `run()` answers after the last piece was taken. What it throws, `run()` throws.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void) | ((chunk: OutputChunk) => Promise<void>)
}

/** One piece of code, to be executed once. Only `code` and `language` are required. */
export interface RunRequest extends RunFields, RunHandles {}

/** A request as plain data: it can be sent, queued and recorded. The functions that it names stay with the handles. */
export interface RunSpec extends RunFields {
  /** The names under which the guest's code finds functions of the host. */
  readonly functionNames?: readonly string[]
}

/** What it returns, or resolves to, is the call's value; what it throws becomes an error of the guest's language. */
export type HostFunction = (this: FunctionCall, ...args: unknown[]) => unknown

/** What `this` is in a host function: one call of it. */
export interface FunctionCall {
  /** Aborts when the run ends, for whatever reason, or when the call has taken longer than `functionMs`. */
  readonly signal: AbortSignal
}

/** A piece of what the guest wrote, as it happened. */
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
  /** The bytes as text; a character split between two chunks comes whole with the second. */
  readonly text: string
  /** Milliseconds since the guest started. */
  readonly atMs: number
}
