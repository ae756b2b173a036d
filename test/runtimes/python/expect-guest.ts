/** Reads the messages of a finished run. */
import assert from 'node:assert/strict'
import type { GuestError } from '../../../src/core/outcome.ts'
import type { MimeBundle } from '../../../src/core/output.ts'
import type { GuestMessage } from '../../../src/runtimes/channel/channel-protocol.ts'
import { type GuestOptions, type GuestRun, runGuest } from './guest-process.ts'

type ValueMessage = Extract<GuestMessage, { type: 'value' }>

/** The only value that the run has sent. */
export function valueOf(run: GuestRun): ValueMessage {
  const values = run.messages.filter((message) => message.type === 'value')
  assert.equal(values.length, 1, `one value expected; stderr: ${run.stderr}`)
  return values[0] as ValueMessage
}

/** The only error that the run has sent. */
export function errorOf(run: GuestRun): GuestError & { readonly phase: 'syntax' | 'run' } {
  const errors = run.messages.filter((message) => message.type === 'error')
  assert.equal(errors.length, 1, `one error expected; stderr: ${run.stderr}`)
  const { phase, error } = errors[0] as Extract<GuestMessage, { type: 'error' }>
  return { phase, ...error }
}

export function displaysOf(run: GuestRun): readonly MimeBundle[] {
  return run.messages.filter((message) => message.type === 'display').map((message) => message.bundle)
}

/** Runs code that must succeed, and returns its value. */
export async function evaluate(code: string, options: GuestOptions = {}): Promise<ValueMessage> {
  const run = await runGuest(code, options)
  assert.equal(run.exitCode, 0, run.stderr)
  assert.equal(run.stderr, '')
  return valueOf(run)
}
