import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodeOf, sayOutcome } from '../../src/core/outcome.ts'

const error = { name: 'TypeError', message: 'no' }

test('a program that ended by itself keeps its own exit code', () => {
  assert.equal(exitCodeOf({ kind: 'completed', exitCode: 0 }), 0)
  assert.equal(exitCodeOf({ kind: 'completed', exitCode: 124 }), 124)
})

test('a program that failed keeps its code, and never looks like a success', () => {
  assert.equal(exitCodeOf({ kind: 'failed', error, exitCode: 3 }), 3)
  assert.equal(exitCodeOf({ kind: 'failed', error, exitCode: 0 }), 1)
})

test('every other outcome has its own code', () => {
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

test('an exceeded limit is described with its unit', () => {
  const describe = (limit: 'output' | 'disk' | 'processes' | 'files' | 'host', allowed: number): string =>
    sayOutcome({ kind: 'limit-exceeded', limit, allowed }).replace('went over the limit on ', '')
  assert.equal(describe('disk', 1_048_576), 'disk, which is 1 MiB')
  assert.equal(describe('disk', 1024 ** 3), 'disk, which is 1024 MiB')
  assert.equal(describe('output', 65_536), 'output, which is 64 KiB')
  assert.equal(describe('output', 1000), 'output, which is 1000 bytes')
  assert.equal(describe('output', 0), 'output, which is 0 bytes')
  assert.equal(describe('processes', 64), 'processes, which is 64')
  assert.equal(describe('host', 5000), 'host, which is 5000ms')
})
