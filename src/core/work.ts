/**
 * Work: everything that a caller can start, whatever the entry point, as plain data. Policies decide on it and records
 * keep it, so it has the names of credentials but never their values.
 */
import type { Limits } from './limits.ts'
import type { Outcome } from './outcome.ts'
import type { Network } from './network.ts'
import type { Language, RunSpec, RuntimeName } from './request.ts'

interface AnyWork {
  /** Unique to this piece of work. */
  readonly id: string
  /** The client, if the caller named one. */
  readonly client?: string | undefined
}

/** A program, in a cell or as a snippet. */
export interface RunWork extends AnyWork {
  readonly kind: 'run'
  readonly runtime: RuntimeName
  /** The limits in force, if they are known before the run. */
  readonly limits: Partial<Limits>
  readonly spec: RunSpec
}

/** Workers to start ahead of runs. */
export interface WarmUpWork extends AnyWork {
  readonly kind: 'warm-up'
  readonly language: Language
  readonly runtime: RuntimeName
  readonly count: number
  readonly network?: Network | undefined
  /** The environment whose packages they have. */
  readonly environment?: string | undefined
  /** Modules for the workers to import. */
  readonly preload?: readonly string[] | undefined
}

/** A program to read without running it. */
export interface ValidationWork extends AnyWork {
  readonly kind: 'validation'
  readonly language: Language
  readonly code: string
  /** The memory that is promised to the validation. */
  readonly limits: Partial<Limits>
}

/** A sandbox to create. */
export interface SandboxWork extends AnyWork {
  readonly kind: 'sandbox'
  readonly limits: Limits
  readonly network: Network
  /** The folder of the host that it may write to, if there is one. */
  readonly workspace?: string | undefined
  /** The environment whose packages it asks for. */
  readonly environment?: string | undefined
  /** Folders of the host that it asks to read, besides the operator's. */
  readonly readable?: readonly string[]
  /** Names of the variables that its commands get. */
  readonly variables?: readonly string[]
}

/** A command of a sandbox: one that the caller waits for, or a background process. */
export interface CommandWork extends AnyWork {
  readonly kind: 'command' | 'process'
  /** The sandbox's id. */
  readonly sandbox: string
  readonly command: string
  /** Names of its credentials. */
  readonly credentials: readonly string[]
  /** Names of its own `variables`, and of those that `setEnvVars()` has set in the sandbox. */
  readonly variables?: readonly string[]
}

export const contextLanguages = ['python', 'javascript', 'typescript'] as const
/** The languages of code contexts. */
export type ContextLanguage = (typeof contextLanguages)[number]

/** A code context of a sandbox that is to be created, forked or restarted. */
export interface ContextWork extends AnyWork {
  readonly kind: 'context'
  readonly sandbox: string
  readonly language: ContextLanguage
  /** A server that runs code itself; Lazaret reports nothing about that code. */
  readonly service?: 'jupyter'
  readonly limits: Limits
  /** Names of its variables. */
  readonly variables?: readonly string[]
}

/** One piece of code in a code context. */
export interface CodeWork extends AnyWork {
  readonly kind: 'code'
  readonly sandbox: string
  readonly context: string
  readonly language: ContextLanguage
  readonly code: string
  /** Names of the variables that `setEnvVars()` has set in the sandbox. */
  readonly variables?: readonly string[]
}

/** `pack` creates a tar, `unpack` extracts one. */
export type FileOperation =
  | ('read' | 'write' | 'list' | 'stat' | 'mkdir' | 'delete' | 'rename' | 'move')
  | ('pack' | 'unpack')

/** An operation on files of a sandbox. */
export interface FilesWork extends AnyWork {
  readonly kind: 'files'
  readonly sandbox: string
  readonly operation: FileOperation
  /** As the caller wrote it. */
  readonly path: string
}

/** A port of a sandbox that is opened to programs of the host, until it is closed. */
export interface PortWork extends AnyWork {
  readonly kind: 'port'
  readonly sandbox: string
  /** The port inside the sandbox. */
  readonly port: number
  /** The address of the host on which it listens. */
  readonly host: string
}

export type Work =
  | (RunWork | ValidationWork | WarmUpWork | SandboxWork)
  | (CommandWork | ContextWork | CodeWork | FilesWork | PortWork)
export type WorkKind = Work['kind']

/**
 * For a program, its outcome; for other work `done`. If an error was thrown: `refused` for a refusal, and `fault` for
 * everything else.
 */
export type WorkOutcome = Outcome['kind'] | 'done' | 'refused' | 'fault'
