/**
 * The same test in several sizes: forks of one Bun zygote draw from every source of random numbers. No two draws are
 * equal.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { bun } from '../use-lazaret.ts'
import type { TestLazaret } from '../use-lazaret.ts'

const inFlight = 8

/** Names of folders: the C library takes each from the nanoseconds of the clock, so two forks may well have one in common. */
const draw = `
  const own = require('node:crypto'), vm = require('node:vm'), { Database } = require('bun:sqlite')
  const form = new FormData()
  form.set('a', 'b')
  const base64 = (bytes) => Buffer.from(bytes).toString('base64')
  const filled = await new Promise((resolve, reject) => own.randomFill(new Uint8Array(8), (error, bytes) => error ? reject(error) : resolve(bytes)))
  ;({
    fraction: Math.random(),
    fractionOfContext: vm.runInNewContext('Math.random()'),
    uuid: crypto.randomUUID(),
    nodeUuid: own.randomUUID(),
    uuidWithoutCache: own.randomUUID({ disableEntropyCache: true }),
    bunUuid: Bun.randomUUIDv7().slice(-17),
    values: base64(crypto.getRandomValues(new Uint8Array(8))),
    manyValues: base64(crypto.getRandomValues(new Uint8Array(5000))),
    bytes: own.randomBytes(8).toString('hex'),
    bytesLater: await new Promise((resolve) => own.randomBytes(8, (_, bytes) => resolve(bytes.toString('hex')))),
    filled: base64(filled),
    filledNow: base64(own.randomFillSync(new Uint8Array(8))),
    integer: own.randomInt(2 ** 47),
    key: base64(own.generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' })),
    subtleKey: base64(await crypto.subtle.exportKey('raw', await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']))),
    salted: Bun.password.hashSync('a', { algorithm: 'bcrypt', cost: 4 }),
    boundary: new Response(form).headers.get('content-type'),
    address: URL.createObjectURL(new Blob(['a'])),
    database: String(new Database(':memory:').query('select hex(randomblob(8)) as one').get().one),
    folders: [1, 2, 3].map(() => require('node:fs').mkdtempSync('/tmp/a')).join(),
  })`

/** The Lazaret must have pools of Bun. */
export function testRandomForks({ lazaret, level }: TestLazaret, forks: number): void {
  const canFork = level !== 'restricted' && process.arch === 'x64'
  test(`${forks} forks draw nothing alike`, { skip: !canFork && 'behind namespaces, on x64' }, async () => {
    await lazaret.warmUp({ ...bun, count: inFlight })
    const drawn = new Map<string, Set<unknown>>()
    const starts = new Map<string, number>()
    let left = forks
    const keepDrawing = async (): Promise<void> => {
      while (left > 0) {
        const { value, receipt, outcome, stderr } = await lazaret.run({ ...bun, code: draw })
        assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
        starts.set(receipt.start, (starts.get(receipt.start) ?? 0) + 1)
        if (receipt.start !== 'forked') continue
        left--
        for (const [source, one] of Object.entries(value as Record<string, unknown>))
          drawn.set(source, (drawn.get(source) ?? new Set()).add(one))
      }
    }
    await Promise.all(Array.from({ length: inFlight }, keepDrawing))
    const alike = [...drawn].filter(([, all]) => all.size !== starts.get('forked'))
    assert.deepEqual(
      alike.map(([source, all]) => [source, all.size]),
      [],
    )
    assert.ok(drawn.size >= 20)
  })
}
