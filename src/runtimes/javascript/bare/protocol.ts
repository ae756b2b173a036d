/**
 * The functions that the harness and the code inside a bare realm call on each other. Each side belongs to its own realm.
 * From an object of the harness, guest code could reach everything that the bare realm omits. So only strings and numbers
 * go in. Other values that come out are opaque to the harness: it never inspects them, and only passes them back.
 */
import type { Level } from '../console/console-methods.ts'

/** Functions of the harness. The inside only calls them; guest code never gets one. */
export interface BareHost {
  readonly print: (level: Level, text: string) => void
  readonly sendValue: (json: string, text: string, isTruncated: boolean) => void
  readonly fail: (name: string, message: string, stack: string | undefined) => void
  /** Whether the program's value is being awaited. */
  readonly setWaiting: (isWaiting: boolean) => void
  /** Replaces the positions in `text` with positions in the code as written. */
  readonly mapPositions: (text: string) => string
}

export interface BareStart {
  readonly start: () => unknown
  /** The value in the tagged encoding, as JSON. */
  readonly input: string | undefined
  readonly resultBytes: number
}

/** Functions of the bare realm. */
export interface BareInside {
  /** Starts the program in a microtask, with no frame of the harness on the stack. */
  readonly begin: (program: BareStart) => void
  /** Ends the program with an uncaught error. */
  readonly fail: (thrown: unknown) => void
  readonly startModule: (main: unknown) => unknown
  readonly refuseImport: (specifier: unknown) => never
  readonly addDecorators: () => void
}

export type OpenInside = (host: BareHost) => BareInside

/** The global by which the harness finds `OpenInside`. It is deleted before guest code runs. */
export const openName = '$lazaret'
/** The file name of the inside's code in stacks. */
export const insideName = 'lazaret:bare'
