import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodeOf } from '../../src/core/outcome.ts'

const error = { name: 'TypeError', message: 'no' }

test('a program that ended by itself keeps its own exit code', () => {
  assert.equal(exitCodeOf({ kind: 'completed', exitCode: 0 }), 0)
  assert.equal(exitCodeOf({ kind: 'completed', exitCode: 124 }), 124)
})

test('a program that failed keeps its code, and never looks like a success', () => {
  assert.equal(exitCodeOf({ kind: 'failed', error, exitCode: 3 }), 3)
  assert.equal(exitCodeOf({ kind: 'failed', error, exitCode: 0 }), 1)
})

test('every other ending has a code of its own', () => {
  assert.equal(exitCodeOf({ kind: 'syntax-error', error }), 65)
  assert.equal(exitCodeOf({ kind: 'timed-out', limit: 'wall', limitMs: 1 }), 124)
  assert.equal(exitCodeOf({ kind: 'limit-exceeded', limit: 'output', allowed: 1 }), 125)
  assert.equal(exitCodeOf({ kind: 'denied', what: 'fs' }), 125)
  assert.equal(exitCodeOf({ kind: 'out-of-memory', limitBytes: 1 }), 137)
  assert.equal(exitCodeOf({ kind: 'cancelled' }), 130)
})

test('a signal is reported as 128 and its number, a nameless real-time signal too', () => {
  assert.equal(exitCodeOf({ kind: 'killed', signal: 'SIGKILL' }), 137)
  assert.equal(exitCodeOf({ kind: 'killed', signal: 'SIGSEGV' }), 139)
  assert.equal(exitCodeOf({ kind: 'killed', signal: 'SIG34' }), 162)
})
