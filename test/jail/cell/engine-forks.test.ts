/**
 * Workers of Bun and Node that are forks of an engine that has executed sample runs. They behave like newly started
 * ones.
 */
import assert from 'node:assert/strict'
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import type { LazaretEvent, RunRequest, RunResult } from '../../../src/index.ts'
import { Toolchains } from '../../../src/runtimes/packages/toolchains.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { listDescendants } from '../../support/machine/processes.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, noPools, useLazaret } from '../../support/use-lazaret.ts'

const events: LazaretEvent[] = []
const { lazaret, level, heldByCgroup, run } = await useLazaret({
  pools: { bun: {}, node: {} },
  onEvent: (event) => events.push(event),
})
/** The version that guests get here. */
const nodeTried = '24.21.0'
const canFork = level !== 'restricted' && process.arch === 'x64'

after(() => {
  assert.deepEqual(
    events.filter(({ type }) => type === 'zygote-failing'),
    [],
  )
})

for (const engine of [bun, node])
  describe(`forks of ${engine.runtime}`, { skip: !canFork && 'behind namespaces, on x64' }, () =>
    describeForks(engine),
  )

type Engine = typeof bun | typeof node

function describeForks(engine: Engine): void {
  const isBun = engine.runtime === 'bun'

  async function fork(request: Partial<RunRequest> & { readonly code: string }): Promise<RunResult> {
    await lazaret.warmUp({ ...engine, ...(request.realm && { realm: request.realm }) })
    const result = await run({ ...engine, ...request })
    assert.equal(result.receipt.start, 'forked')
    return result
  }

  const valueOf = async (code: string): Promise<unknown> => {
    const { value, outcome, stderr } = await fork({ code })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    return value
  }

  test('have different random numbers, from every source, in every realm', async () => {
    const forks = 40
    const code = `
      const crypto_ = require('node:crypto'), vm = require('node:vm')
      const { Worker } = require('node:worker_threads')
      const worker = new Worker('require("node:worker_threads").parentPort.postMessage([Math.random(), crypto.randomUUID()])', { eval: true })
      const [fraction, id] = await new Promise((resolve) => worker.on('message', resolve))
      await worker.terminate()
      ;({
        math: Math.random(),
        uuid: crypto.randomUUID(),
        nodeUuid: crypto_.randomUUID(),
        bunUuid: globalThis.Bun?.randomUUIDv7().slice(-12) ?? Math.random(),
        values: crypto.getRandomValues(new Uint32Array(2)).join(),
        many: crypto.getRandomValues(new Uint8Array(5000)).join(),
        bytes: crypto_.randomBytes(8).toString('hex'),
        filled: crypto_.randomFillSync(new Uint8Array(8)).join(),
        int: crypto_.randomInt(2 ** 47),
        key: crypto_.generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('hex'),
        subtle: Buffer.from(await crypto.subtle.exportKey('raw', await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']))).toString('hex'),
        context: vm.runInNewContext('Math.random()'),
        folder: require('node:fs').mkdtempSync('/tmp/a'),
        fraction, id,
      })`
    const drawn = new Map<string, Set<string>>()
    for (let number = 0; number < forks; number++) {
      const value = (await valueOf(code)) as Record<string, unknown>
      for (const [source, one] of Object.entries(value)) {
        const all = drawn.get(source) ?? new Set()
        drawn.set(source, all.add(String(one)))
      }
    }
    assert.deepEqual(
      Array.from(drawn, ([source, all]) => [source, all.size]),
      Array.from(drawn, ([source]) => [source, forks]),
    )
    assert.ok(drawn.size > 10)
  })

  const drawInBareRealms = async (): Promise<void> => {
    const forks = 12
    const drawn = new Set<unknown>()
    for (let number = 0; number < forks; number++)
      drawn.add((await fork({ realm: 'bare', code: 'Math.random()' })).value)
    assert.equal(drawn.size, forks)
  }
  if (isBun) test('draw random numbers of their own in bare realms', drawInBareRealms)

  test('have one thread at first, and the engine’s threads if they take longer', async () => {
    const names = (code: string) =>
      valueOf(`
      const { readdirSync, readFileSync } = require('node:fs')
      const list = () => readdirSync('/proc/self/task').map((id) => readFileSync('/proc/self/task/' + id + '/comm', 'utf8').trim())
      ${code}`)
    // On a busy machine a fork may start its threads before its first output.
    const counts: number[] = []
    while (counts.length < 20 && counts.at(-1) !== 1)
      counts.push(((await names('list()')) as string[]).length)
    assert.equal(counts.at(-1), 1)
    // A thread exists before it has its name. If this one never appears, the run ends at its deadline.
    const later = await names(`
      while (!list().includes('${isBun ? 'JITWorker' : 'V8Worker'}')) await new Promise((done) => setTimeout(done, 1))
      list().length`)
    assert.ok(Number(later) >= 3, String(later))
  })

  test('compile hot code like a newly started process', async () => {
    // Another thread compiles, which gets little time on a busy machine.
    const compiledMs = 8000
    const codeOfBun = `
      const { numberOfDFGCompiles, noInline } = require('bun:jsc')
      const hot = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum }
      noInline(hot)
      const endMs = performance.now() + ${compiledMs}
      while (numberOfDFGCompiles(hot) === 0 && performance.now() < endMs) hot(1000)
      numberOfDFGCompiles(hot) > 0`
    // Bit 4 of V8's status says that a function is optimized. Only this test sets the flag for it; no run finds it set.
    const codeOfNode = `
      require('node:v8').setFlagsFromString('--allow-natives-syntax')
      const status = new Function('f', 'return %GetOptimizationStatus(f)')
      const hot = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum }
      const isOptimized = () => (status(hot) & 16) !== 0
      const endMs = performance.now() + ${compiledMs}
      while (!isOptimized() && performance.now() < endMs) hot(1000)
      isOptimized()`
    assert.equal(await valueOf(isBun ? codeOfBun : codeOfNode), true)
  })

  test('collect garbage concurrently, with recreated helper threads', async () => {
    const code = `
      let kept = []
      for (let round = 0; round < 20; round++) {
        kept = []
        for (let i = 0; i < 100_000; i++) kept.push({ i, text: 'x' + i })
        globalThis.Bun?.gc(round % 2 === 0)
      }
      kept.length`
    assert.equal(await valueOf(code), 100_000)
  })

  const isCounted = heldByCgroup ? false : 'elsewhere a thread too many ends the run'
  // Bun continues if the cgroup refuses its threads. Node needs a few to end by itself, whether started or forked.
  const processesMax = isBun ? 1 : 8
  test(`end with at most ${processesMax} threads`, { skip: isCounted }, async () => {
    const code = 'let n = 0; while (n < 3e5) n++; n'
    const { outcome, value } = await fork({ code, limits: { processesMax, wallMs: ampleMs } })
    assert.deepEqual([outcome, value], [{ kind: 'completed', exitCode: 0 }, 3e5])
  })

  test('are not made of an untested version: its workers are parked, and the reason is reported', async () => {
    const { tried, other } = isBun
      ? { tried: '1.4.5', other: '1.4.9' }
      : { tried: nodeTried, other: '24.99.0' }
    const bytes = readFileSync(new Toolchains()[engine.runtime]() ?? '')
    for (let at = bytes.indexOf(tried); at >= 0; at = bytes.indexOf(tried, at)) bytes.write(other, at)
    using own = makeFolder()
    writeFileSync(join(own.folder, engine.runtime), bytes, { mode: 0o755 })
    const reasons: string[] = []
    await using another = createLazaret({
      toolchains: { [engine.runtime]: join(own.folder, engine.runtime) },
      pools: { ...noPools, [engine.runtime]: {} },
      onEvent: (event) => event.type === 'zygote-failing' && reasons.push(event.reason),
    })
    await another.warmUp(engine)
    const { value, receipt } = await another.run({ ...engine, code: `process.versions.${engine.runtime}` })
    assert.deepEqual([value, receipt.start, reasons.length], [other, 'parked', 1])
    assert.match(reasons[0] ?? '', /(Bun 1\.4\.9|Node 24\.99\.0) has not been tested as a zygote/)
  })

  const isRoot = process.getuid?.() === 0
  test(
    'find nothing of earlier runs, and neither does their zygote',
    { skip: !isRoot && 'as root' },
    async () => {
      const marker = `mark${crypto.randomUUID()}`
      const secret = { input: { a: marker }, stdin: marker, args: [marker], files: { [marker]: marker } }
      const before = await fork({
        ...secret,
        code: `globalThis.kept = '${marker}'.repeat(1000); console.log(kept.length)`,
      })
      assert.equal(before.stdout, `${marker.length * 1000}\n`)
      await lazaret.warmUp(engine)
      // Node's threads, including the main one, have their own names.
      const living = listDescendants(process.pid).filter(({ name }) =>
        ['bun', 'node', 'MainThread'].includes(name),
      )
      const found = living.map(({ pid }) => findInMemory(pid, marker)).filter((one) => one !== 'gone')
      // The zygote and a parked fork. The fork that proved the zygote may end meanwhile.
      assert.ok(found.length > 1)
      assert.deepEqual(new Set(found), new Set(['nothing']))
    },
  )
}

/** Readable for everybody, because guests have other ids. */
function makeFolder(): Disposable & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'another-bun-'))
  chmodSync(folder, 0o755)
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

function findInMemory(pid: number, marker: string): 'gone' | 'nothing' | 'the marker' {
  try {
    return readMemory(pid).some((page) => page.includes(marker)) ? 'the marker' : 'nothing'
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) return 'gone'
    throw error
  }
}

/** The current contents of a process's writable memory, page by page, without pages that are only reserved. */
function* readMemory(pid: number): Generator<Buffer> {
  const pageBytes = 4096
  const present = 0x80 // in the highest of the eight bytes of a page's entry
  const [memory, pages] = ['mem', 'pagemap'].map((name) => openSync(`/proc/${pid}/${name}`, 'r')) as [
    number,
    number,
  ]
  const mappings = readFileSync(`/proc/${pid}/maps`, 'latin1').matchAll(/^(\w+)-(\w+) rw/gm)
  try {
    for (const [, from = '', until = ''] of mappings) {
      const start = Number.parseInt(from, 16)
      const facts = Buffer.alloc(((Number.parseInt(until, 16) - start) / pageBytes) * 8)
      readSync(pages, facts, 0, facts.length, (start / pageBytes) * 8)
      for (let index = 0; index < facts.length / 8; index++) {
        if (((facts[index * 8 + 7] ?? 0) & present) === 0) continue
        const page = Buffer.alloc(pageBytes)
        readSync(memory, page, 0, pageBytes, start + index * pageBytes)
        yield page
      }
    }
  } finally {
    for (const file of [memory, pages]) closeSync(file)
  }
}
