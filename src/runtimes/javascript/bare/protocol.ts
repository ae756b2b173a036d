/**
 * What the harness and the inside of a bare realm call of each other. Each belongs to its own realm. With an object of
 * the harness, guest code could reach everything that the realm leaves out. So only text and numbers go in, and what
 * goes out as it is, the harness looks at in no way: it only hands it back.
 */
import type { Level } from '../console/console-methods.ts'

/** Functions of the harness. The inside only calls them; guest code never gets one. */
export interface BareHost {
  readonly print: (level: Level, text: string) => void
  readonly sendValue: (json: string, text: string, isTruncated: boolean) => void
  readonly fail: (name: string, message: string, stack: string | undefined) => void
  /** The program's value is being waited for, or no longer. */
  readonly setWaiting: (isWaiting: boolean) => void
  /** `text` with the places in it as the guest wrote them. */
  readonly mapPositions: (text: string) => string
}

export interface BareStart {
  readonly start: () => unknown
  /** The value in the tagged encoding, as JSON. */
  readonly input: string | undefined
  readonly resultBytes: number
}

/** Of the bare realm. */
export interface BareInside {
  /** Begins soon, from nothing that the harness has on its stack. */
  readonly begin: (program: BareStart) => void
  /** Ends the program with an uncaught error. */
  readonly fail: (thrown: unknown) => void
  readonly startModule: (main: unknown) => unknown
  readonly refuseImport: (specifier: unknown) => never
  readonly addDecorators: () => void
}

export type OpenInside = (host: BareHost) => BareInside

/** Under which name the inside waits for the harness; gone before guest code runs. */
export const openName = '$lazaret'
/** What stacks call the inside, as far as they show it. */
export const insideName = 'lazaret:bare'
