/** Values with tags, and calls of the host's functions: for programs that have either. */
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
