/**
 * Parts of the inside that most programs do not need. Each is a separate script that the Node process provides on demand.
 * Parts that need unpatched built-ins are opened before the program starts.
 */
import { evaluateScript } from './code-makers.ts'
import type { Outside } from './protocol.ts'
import type { ShimsPart } from './shims-part.ts'
import type { ValuesPart } from './values-part.ts'

interface Parts {
  readonly shims: ShimsPart
  readonly values: ValuesPart
}

export type OpenPart = <Name extends keyof Parts>(name: Name) => Parts[Name]

export function createParts({ librarySource }: Outside, platform: object): OpenPart {
  return (name) => {
    const text = librarySource(`lazaret:${name}`)
    if (text === undefined) throw new Error(`The part ${name} of the harness is missing`)
    const open = evaluateScript(text) as (platform: object) => { readonly part: never }
    return open(platform).part
  }
}
