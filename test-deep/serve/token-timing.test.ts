/**
 * Whether the duration of a refusal reveals how much of a token is right: thousands of requests to a real server, with tokens
 * that share a long prefix with a real one, nearly all of it, or nothing, sequentially in random order. The same
 * request under two names shows how large a random difference is here.
 */
import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { serveHere, tokenOf } from '../../test/adapters/http/serve-here.ts'

const rounds = 2000
const real = `lzt_${randomBytes(32).toString('base64url')}`
/** A difference of means above this many standard errors is significant. */
const deviationsMax = 5
/** A smaller difference cannot be measured over a network. */
const noticedUs = 20

const wrongAll = (): string => `lzt_${randomBytes(32).toString('base64url')}`
const wrongLast = (): string => {
  const others = 'abcdefghijklmnopqrstuvwxyz'.split('').filter((one) => !real.endsWith(one))
  return `${real.slice(0, -1)}${others[randomInt(others.length)]}`
}
const wrongHalf = (): string => `${real.slice(0, 24)}${wrongAll().slice(24)}`

const kinds = {
  'nothing right': wrongAll,
  'nothing right again': wrongAll,
  'half right': wrongHalf,
  'all but the last right': wrongLast,
}
type Kind = keyof typeof kinds
const names = Object.keys(kinds) as Kind[]

/** Microseconds until the refusal arrives, on a persistent connection. */
async function time(url: string, token: string, agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const start = process.hrtime.bigint()
  request(`${url}/v1/stats`, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    response.resume().on('end', () => {
      assert.equal(response.statusCode, 401)
      resolve(Number(process.hrtime.bigint() - start) / 1000)
    })
  })
    .on('error', reject)
    .end()
  return promise
}

/** The middle half of the samples, because other work on the machine affects the extremes. */
function describe(samples: number[]): { readonly mean: number; readonly error: number } {
  const middle = samples.toSorted((a, b) => a - b).slice(samples.length / 4, (samples.length * 3) / 4)
  const mean = middle.reduce((sum, one) => sum + one, 0) / middle.length
  const variance = middle.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (middle.length - 1)
  // The mean of the middle half varies more than its own spread suggests, so this is doubled.
  return { mean, error: 2 * Math.sqrt(variance / middle.length) }
}

test('the time of a refusal does not reveal how much of a token is correct', async (context) => {
  const others = Array.from({ length: 50 }, (_, index) => tokenOf(`other-${index}`, wrongAll()))
  await using here = await serveHere({ tokens: [tokenOf('real', real), ...others] })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Kind, number[]>
  for (let warm = 0; warm < 500; warm++) await time(here.url, wrongAll(), agent)
  for (let round = 0; round < rounds; round++) {
    const order = [...names]
    for (let at = order.length - 1; at > 0; at--) {
      const other = randomInt(at + 1)
      ;[order[at], order[other]] = [order[other] as Kind, order[at] as Kind]
    }
    // Created before the clock starts, because creating one affects the processor's caches.
    const tokens = Object.fromEntries(names.map((name) => [name, kinds[name]()])) as Record<Kind, string>
    for (const name of order) samples[name].push(await time(here.url, tokens[name], agent))
  }
  agent.destroy()
  const base = describe(samples['nothing right'])
  for (const name of names.slice(1)) {
    const { mean, error } = describe(samples[name])
    const difference = Math.abs(mean - base.mean)
    const expected = Math.hypot(error, base.error)
    context.diagnostic(
      `${name}: ${difference.toFixed(2)} µs from nothing right; error ${expected.toFixed(2)} µs`,
    )
    assert.ok(difference < Math.max(deviationsMax * expected, 1), `${name}: ${difference} µs`)
    assert.ok(difference < noticedUs, `${name}: ${difference} µs`)
  }
})
