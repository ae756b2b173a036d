/** The bytes that an answer makes the host hold until it is sent. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { runSteps } from '../../core/steps.ts'
import { weigh } from '../../core/values/weigh.ts'

/** Counts the bytes of one answer. Throws CLIENT_QUEUE_FULL, QUEUE_FULL. */
export type Hold = (bytes: number) => void

/** As a value, as JSON, and as bytes that are sent. */
const answerForms = 3

/** Counts the result as an answer, and returns it. Throws what `hold` throws. */
export function heldResult(hold: Hold, result: CallToolResult): CallToolResult {
  hold(answerForms * runSteps(weigh(result)))
  return result
}
