/**
 * Work: whatever a caller can have begun, from any door, as plain data. It is what a policy decides on and what a record
 * keeps, so it has the names of credentials and never their values.
 */
import type { Limits } from './limits.ts'
import type { Outcome } from './outcome.ts'
import type { Language, NetworkMode, RunSpec, RuntimeName } from './request.ts'

interface AnyWork {
  /** Of this piece of work alone. */
  readonly id: string
  /** Who asks, where the caller has said so. */
  readonly client?: string | undefined
}

/** A program, in a cell or as a snippet. */
export interface RunWork extends AnyWork {
  readonly kind: 'run'
  readonly runtime: RuntimeName
  /** Those in force, where they are known before the run. */
  readonly limits: Partial<Limits>
  readonly spec: RunSpec
}

/** Workers that are to wait for runs. */
export interface WarmUpWork extends AnyWork {
  readonly kind: 'warm-up'
  readonly language: Language
  readonly runtime: RuntimeName
  readonly count: number
  readonly network?: NetworkMode | undefined
  /** Modules that the workers are to import. */
  readonly preload?: readonly string[] | undefined
}

/** A sandbox that is to be created. */
export interface SandboxWork extends AnyWork {
  readonly kind: 'sandbox'
  readonly limits: Limits
  readonly network: NetworkMode
  /** The folder of the host that it may write to, if there is one. */
  readonly workspace?: string | undefined
  /** Folders of the host that it asks to read, besides the operator's. */
  readonly readable?: readonly string[]
}

/** A command of a sandbox: one that is waited for, or a process that goes on. */
export interface CommandWork extends AnyWork {
  readonly kind: 'command' | 'process'
  /** The sandbox's id. */
  readonly sandbox: string
  readonly command: string
  /** Names of the variables that it is given as credentials. */
  readonly credentials: readonly string[]
}

/** `pack` makes a tar, `unpack` takes one apart. */
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

export type Work = RunWork | WarmUpWork | SandboxWork | CommandWork | FilesWork
export type WorkKind = Work['kind']

/**
 * Of a program: its outcome. Of other work: `done`. Where an error was thrown: `refused` when it was a refusal, and
 * `fault` for everything else.
 */
export type WorkOutcome = Outcome['kind'] | 'done' | 'refused' | 'fault'
