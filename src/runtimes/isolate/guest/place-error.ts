/** Maps the positions in an error of a program to the code as written. */
import { programName } from '../../javascript/modules/positions.ts'
import type { MapPosition, Position } from '../../javascript/modules/positions.ts'
import { syntaxErrorPlace } from '../program/syntax-error-place.ts'
import type { Failure, FailureKind } from '../inside/protocol.ts'

export type PlacedError = Failure & Partial<Position>

/** The source that ran, and the map from its positions to the code as written. */
export interface RunText {
  readonly source: string
  readonly toWritten: MapPosition
}

/** `<code>:line:column`, as in stacks. */
const places = new RegExp(`${programName}:(\\d+):(\\d+)`, 'g')

export function placeError(error: Failure, kind: FailureKind, { source, toWritten }: RunText): PlacedError {
  if (kind === 'syntax') {
    const found = syntaxErrorPlace(source)
    return { ...error, ...(found !== undefined && toWritten(found)) }
  }
  let first: Position | undefined
  const stack = error.stack?.replaceAll(places, (_place, line: string, column: string) => {
    const position = toWritten({ line: Number(line), column: Number(column) })
    first ??= position
    return `${programName}:${position.line}:${position.column}`
  })
  return { ...error, ...(stack !== undefined && { stack }), ...first }
}
