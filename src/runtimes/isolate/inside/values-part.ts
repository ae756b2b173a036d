/** The part for programs that need values with tags, calls of host functions or decorators. */
import { decodeTagged } from '../../../core/values/decode-value.ts'
import { encodeValueToJson } from '../../../core/values/encode-value.ts'
import { installDecoratorHelpers } from '../../javascript/modules/decorators.ts'
import { HostCalls } from './host-calls.ts'

export interface ValuesPart {
  readonly HostCalls: typeof HostCalls
  readonly installDecoratorHelpers: typeof installDecoratorHelpers
  readonly decodeTagged: typeof decodeTagged
  readonly encodeValueToJson: typeof encodeValueToJson
}

declare const $lazaretInside: { part?: ValuesPart }
$lazaretInside.part = { HostCalls, installDecoratorHelpers, decodeTagged, encodeValueToJson }
