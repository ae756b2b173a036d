import type { Command } from 'commander'

/** What the program passes to each command. */
export interface CommandContext {
  /** Aborts when the user or the system wants the command to end. */
  readonly signal: AbortSignal
  /** Performs a run: during it, a signal aborts the run instead of ending the process at once. */
  readonly duringRun: <T>(work: () => Promise<T>) => Promise<T>
  /** Prints one line about something that the user may not expect. */
  readonly warn: (message: string) => void
  /** Performs the work of `command` and keeps its exit code. */
  readonly perform: (command: Command, work: () => Promise<number>) => Promise<void>
}
