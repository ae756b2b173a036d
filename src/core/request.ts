/** What a caller asks for: one program, and everything that it needs. */
import type { Limits } from './limits.ts'
import type { Network } from './network.ts'
import type { DisplayFacts, LogEntry, MimeBundle } from './output.ts'
import type { EdgeSecrets } from './secrets.ts'

export const languages = ['javascript', 'typescript', 'python', 'shell'] as const
export type Language = (typeof languages)[number]

export const cellRuntimeNames = ['bun', 'node', 'python', 'shell'] as const
/** How a language runs in a cell. */
export type CellRuntimeName = (typeof cellRuntimeNames)[number]

/** The runtimes whose interpreter an operator may choose; the shell is always the machine's. */
export type ToolchainName = Exclude<CellRuntimeName, 'shell'>
export const toolchainNames = cellRuntimeNames.filter((name): name is ToolchainName => name !== 'shell')

export const runtimeNames = [...cellRuntimeNames, 'snippet', 'isolate'] as const
/** How a language runs. */
export type RuntimeName = (typeof runtimeNames)[number]

export const realms = ['runtime', 'bare'] as const
/** Which globals a JavaScript program has besides the language's own. */
export type Realm = (typeof realms)[number]

/** The part of a request that is plain data. Only `code` and `language` are required. */
interface RunFields {
  /** The program's text. */
  readonly code: string
  /** TypeScript is compiled without checking types; decorators follow `experimentalDecorators`. */
  readonly language: Language
  /**
   * Default: bun for javascript and typescript, otherwise the language's own runtime. `snippet` is for javascript that
   * only computes: it reads `input`, a string, with `read_input()`, writes to stdout with `emit(text)`, and needs no
   * cell. `isolate` is for javascript and typescript that needs no process: no files, no network, no timers, but some
   * libraries.
   */
  readonly runtime?: RuntimeName
  /**
   * The globals of a program in JavaScript or TypeScript. `runtime`: those of Bun or Node. `bare`, in Bun: the
   * language's, `console` and `input`; no `process`, `require`, `import()`, `fetch`, timers or WebAssembly. Then a
   * value with a `toJSON` becomes what that returns, and the console shows objects as JSON. `bare` only hides names;
   * the isolation comes from the cell, which is the same for both. Default `runtime`.
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
   * names must be named explicitly; the name of a folder brings everything in it. Links, pipes and devices do not
   * come back; `missingFiles` of the result says so, and why other files are missing.
   */
  readonly collect?: readonly string[]
  /**
   * What workers load ahead of the run: modules of Python, such as `numpy`, or packages of JavaScript, such as `lodash`.
   * A run without a free worker loads them when the program does. Default: the operator's `preload`.
   */
  readonly preload?: readonly string[]
  /** The name of an environment, whose packages the program can import. Default: none. */
  readonly environment?: string
  /** What the program reads from standard input. Default: empty. */
  readonly stdin?: string | Uint8Array
  /**
   * Environment variables, added to the few that every guest finds. The host's environment is not passed on. Bun reads
   * them when it starts, so a run with `env` starts cold. Python and Node start cold only for the variables that they
   * read at their start.
   */
  readonly env?: Readonly<Record<string, string>>
  /** Limits above the operator's ceilings are lowered, and the receipt says so. */
  readonly limits?: Partial<Limits>
  /**
   * Default `none`: an empty network namespace with its own loopback. A policy (`{ allow: ['api.example.com'] }`) lets
   * the guest reach what it names, through the host, and nothing else.
   */
  readonly network?: Network
  /** The client that the run is for: rate limits, fair queues and the audit log use it. */
  readonly client?: string | undefined
}

/** The part of a request that lives in the caller's process and cannot leave it. */
export interface RunHandles {
  /**
   * Functions of the host that the guest's code may call by name: in JavaScript they return promises; in Python they
   * block, or are awaited if an event loop is running. Not for shell. The guest chooses their arguments: check them.
   */
  readonly functions?: Readonly<Record<string, HostFunction>>
  /** Aborting it kills the run; the outcome is `cancelled`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called for each piece of output as it happens. The pieces of one stream come in order and none is lost. Pieces of
   * stdout and stderr come in the order in which they were written, unless they were written at the same moment. If it
   * returns a promise, it is not called again until that settles. A guest that writes meanwhile blocks, and its wall
   * time continues. `run()` resolves after the last piece was taken, and throws what this function throws.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void) | ((chunk: OutputChunk) => Promise<void>)
  /**
   * Called for each console call of JavaScript as it happens. While a promise that `onOutput`, `onLog`, `onDisplay` or
   * `onClear` returned is pending, none of them is called, and a guest that sends more is blocked.
   */
  readonly onLog?: ((entry: LogEntry) => void) | ((entry: LogEntry) => Promise<void>)
  /**
   * Called for each display of Python as it is shown, even if a later one replaces it. `facts` has the id of the
   * display, if there is one, and says whether it replaces the earlier display with that id.
   */
  readonly onDisplay?:
    | ((bundle: MimeBundle, facts: DisplayFacts) => void)
    | ((bundle: MimeBundle, facts: DisplayFacts) => Promise<void>)
  /**
   * Called when the guest clears what it has shown. If `waits` is true, the displays stay until the next one arrives.
   */
  readonly onClear?: ((waits: boolean) => void) | ((waits: boolean) => Promise<void>)
  /**
   * Whether the result has the output too. `false` needs `onOutput`, which then alone receives it, and leaves `stdout`
   * and `stderr` empty. Default true.
   */
  readonly keepOutput?: boolean
}

/** One piece of code, to be executed once. Only `code` and `language` are required. */
export interface RunRequest extends RunFields, RunHandles {
  /**
   * API keys that the guest can use but never sees; they need a network policy. The variable with the name of each
   * secret holds a placeholder. In requests to the secret's hosts, over TLS, a process outside the cell replaces the
   * placeholder with the value, and it masks the value in answers. Such a run starts cold.
   */
  readonly secrets?: EdgeSecrets | undefined
}

/** A request as plain data: it can be sent, queued and recorded. The functions that it names stay with the handles. */
export interface RunSpec extends RunFields {
  /** The names under which the guest's code finds functions of the host. */
  readonly functionNames?: readonly string[]
}

/** Its return value, awaited, is the call's value; what it throws becomes an error in the guest's language. */
export type HostFunction = (this: FunctionCall, ...args: unknown[]) => unknown

/** `this` in a host function: one call. */
export interface FunctionCall {
  /** Aborts when the run ends, for whatever reason, or when the call has taken longer than `functionMs`. */
  readonly signal: AbortSignal
}

/** A piece of what the guest wrote, as it happened. */
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
  /** The bytes as text; a character that is split between two chunks comes with the second. */
  readonly text: string
  /** Milliseconds since the guest started. */
  readonly atMs: number
}
