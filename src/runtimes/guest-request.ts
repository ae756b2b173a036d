import type { Limits } from '../core/limits.ts'
import type { RunRequest } from '../core/request.ts'
import { encodeValue } from '../core/values.ts'
import type { GuestRequest } from './channel-protocol.ts'

/** What the harness is told. The input crosses in the tagged encoding. */
export function writeGuestRequest(language: GuestRequest['language'], request: RunRequest, limits: Limits): GuestRequest {
  const input = request.input === undefined ? {} : { input: encodeValue(request.input, { maxBytes: limits.inputBytes }).value }
  return { language, code: request.code, ...input, args: request.args ?? [], resultBytes: limits.resultBytes }
}
