/** Proves that a soak test would find problems. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { everyGuest } from '../../scripts/soaking/case.ts'
import { dealCases, kinds } from '../../scripts/soaking/deck.ts'
import { runMix } from '../../scripts/soaking/run-mix.ts'
import type { CaseEnd } from '../../scripts/soaking/run-mix.ts'
import { Tally } from '../../scripts/soaking/tally.ts'
import type { RunRequest, RunResult } from '../../src/index.ts'

const machine = { port: 1, forksAreCounted: true, forksAreRefused: true }
const inDeck = kinds.reduce((sum, { guests, copies }) => sum + guests.length * copies, 0)

/** The result of a run whose worker was killed. */
const lost = { outcome: { kind: 'killed', signal: 'SIGSEGV' }, stdout: '', files: {}, usage: {} }

async function soakWith(run: (request: RunRequest) => Promise<RunResult>): Promise<CaseEnd[]> {
  const ends: CaseEnd[] = []
  const { signal } = new AbortController()
  const onEnd = (end: CaseEnd) => void ends.push(end)
  await runMix({ cases: dealCases({ seed: 1, machine }), runs: inDeck, inFlight: 5, run, signal, onEnd })
  return ends
}

test('the same seed gives the same cases, and another seed gives others', () => {
  const deal = (seed: number) => {
    const cases = dealCases({ seed, machine })
    return Array.from({ length: inDeck }, () => cases.next().value).map(({ name, request }) => [
      name,
      request.code,
    ])
  }
  assert.deepEqual(deal(1), deal(1))
  assert.notDeepEqual(deal(1), deal(2))
})

test('the cases include every kind, and every language for each of two clients', () => {
  const cases = dealCases({ seed: 1, machine })
  const dealt = Array.from({ length: 2 * inDeck }, () => cases.next().value)
  assert.deepEqual(new Set(dealt.map(({ kind }) => kind)), new Set(kinds.map(({ name }) => name)))
  const languages = dealt.map(({ request }) => `${request.runtime} ${request.language} ${request.client}`)
  assert.equal(new Set(languages).size, 2 * everyGuest.length)
})

test('a wrong answer is detected for every kind of case', async () => {
  const ends = await soakWith(async () => Promise.resolve(lost as unknown as RunResult))
  assert.equal(ends.length, inDeck)
  assert.deepEqual(
    ends.filter(({ wrong }) => wrong === undefined),
    [],
  )
})

test('a run that throws counts as wrong, and the others continue', async () => {
  const ends = await soakWith(async () => Promise.reject(new Error('the worker was lost')))
  assert.equal(ends.filter(({ wrong }) => wrong?.includes('the worker was lost')).length, inDeck)
})

test('the summary counts all errors, and shows the first twenty and the slowest case', () => {
  const tally = new Tally()
  for (let ms = 1; ms <= 100; ms++) tally.add({ kind: 'value', ms, wrong: `${ms}` })
  assert.deepEqual([tally.runs, tally.wrong, tally.shown.length], [100, 100, 20])
  assert.deepEqual(tally.latencies(), [
    { kind: 'value', runs: 100, p50Ms: 50, p95Ms: 95, p99Ms: 99, maxMs: 100 },
  ])
})
