/** What a guest of a parked worker finds: the same as in a fresh cell. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { RunRequest, RunResult } from '../../src/index.ts'
import { parkedRuntimes } from '../support/parked-workers.ts'
import { isWarm, runParked } from '../support/run-parked.ts'
import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'
import type { GuestRuntime } from '../support/use-lazaret.ts'

const guests = await useLazaret({ pools: {} })
const { lazaret } = guests
const run = runParked(lazaret, guests.run)
const ok = { kind: 'completed', exitCode: 0 }

/** What the kernel says of a guest, the same lines in the same order in every language. */
const facts = [
  ...['limits', 'cmdline', 'uid_map', 'status'],
  // Without a view of files of its own it may not look at the host's.
  ...(guests.level === 'restricted' ? [] : ['mountinfo']),
].map((name) => `/proc/self/${name}`)
const writable = guests.level === 'restricted' ? [] : ['/workspace', '/tmp', '/dev/shm']
const lasting = /^(Umask|Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp|SigBlk|SigIgn|Cpus_allowed):/
/**
 * Ids and folders; V8's own limit, which it has from its start and lies above that of the run in any case; what the
 * kernel's count of processes leaves to a run where all of a user's have to fit into it.
 */
const varying =
  /\b20\d{8}\b|(?<=--max-old-space-size=)\d+|(?<=^Max processes\s+)8[\d ]+|(?<=lazaret-|run-)[-\d]+/g
const lookAroundInJavaScript = `
{
  const fs = process.getBuiltinModule('node:fs')
  for (const path of ['limits', 'status']) console.log(fs.readFileSync('/proc/self/' + path, 'latin1'))
  console.log(${JSON.stringify(writable)}.map((path) => { const { blocks, bsize, files } = fs.statfsSync(path); return [blocks * bsize, files] }))
  console.log(process.cwd(), Object.entries(process.env).toSorted(), process.argv, process.execArgv, process.title, Object.keys(globalThis))
  console.log(fs.readdirSync('/proc/self/fd').filter((name) => name < 3), process.pid === Number(fs.readlinkSync('/proc/self')), process.ppid, process.exitCode)
}`
const lookAround: Readonly<Record<GuestRuntime['runtime'], string>> = {
  // The process itself becomes the one that reads.
  shell: `exec cat ${facts.join(' ')}`,
  // As a fork of a zygote it has a command line and mounts that are its own; what they come to is the same.
  python: `
import os
for path in ('limits', 'status'): print(open('/proc/self/' + path).read())
sizes = [(one.f_blocks * one.f_frsize, one.f_files, one.f_flag) for one in map(os.statvfs, ${JSON.stringify(writable)})]
print(sizes, os.listdir('/proc/self/fd'), os.getcwd(), sorted(os.environ.items()), os.nice(0), os.getsid(0) == os.getpid())
`,
  // And so it has in JavaScript.
  bun: lookAroundInJavaScript,
  node: lookAroundInJavaScript,
}

describe('a guest of a parked worker', () => {
  const smaller = {
    memoryBytes: 400 * 1024 * 1024,
    processesMax: 50,
    openFilesMax: 100,
    diskBytes: 32 * 1024 * 1024,
    outputBytes: 200_000,
    wallMs: 12_345,
    cpuMs: 9000,
    resultBytes: 5000,
  }

  // Each line once: the /proc of a space lies over that of its cell.
  const compared = ({ stdout }: RunResult, others: RegExp) =>
    [
      ...new Set(
        stdout
          .split('\n')
          .filter((line) => !others.test(line))
          .filter((line) => !/^\w+:\t/.test(line) || lasting.test(line))
          .map((line) => line.replace(/^\d+ \d+ \d+:\d+ /, '').replaceAll(varying, 'N')),
      ),
    ].toSorted()

  for (const guest of parkedRuntimes) {
    for (const [what, limits] of Object.entries({ 'the usual limits': {}, 'smaller limits': smaller })) {
      test(`${guest.runtime}: has the same surroundings as in a fresh cell, with ${what}`, async () => {
        const code = lookAround[guest.runtime]
        const request: RunRequest = { ...guest, code, limits, args: ['a'] }
        await lazaret.releaseWorkers()
        const cold = await guests.run(request)
        const parked = await run(request)
        assert.deepEqual([cold.receipt.start, cold.outcome, parked.outcome], ['cold', ok, ok], cold.stderr)
        // Where an rlimit holds them, a fork has its zygote's data too, and its processes are counted otherwise.
        // And each guest of its cell has an id of its own, as have parked shells where a cgroup counts.
        const isForked = parked.receipt.start === 'forked'
        const isInSpace = isForked || (guest === shell && guests.heldByCgroup)
        const others = isForked
          ? /^Max (data size|processes) |^(U|G)id:/
          : isInSpace
            ? /^(U|G)id:| 1000 +\d+ +\d+$/
            : /^$/
        assert.ok(compared(cold, others).length > 12)
        assert.deepEqual(compared(parked, others), compared(cold, others))
        const valuesOf = ({ receipt }: RunResult) => Object.values(receipt.limits).map(({ value }) => value)
        assert.deepEqual(valuesOf(parked), valuesOf(cold))
        assert.deepEqual(parked.receipt.layers, cold.receipt.layers)
        const namesOf = ({ receipt }: RunResult) => Object.keys(receipt.observed).toSorted()
        assert.deepEqual(namesOf(parked), namesOf(cold))
      })
    }
  }

  test('can call functions, and its files are collected', async () => {
    const functions = { double: (value: unknown) => Number(value) * 2 }
    const files = { 'in.txt': 'in' }
    const javascript = `
      const fs = await import('node:fs')
      fs.writeFileSync('out.txt', fs.readFileSync('in.txt') + 'out')
      await double(input.number)`
    const requests: Readonly<Record<string, RunRequest>> = {
      python: {
        ...python,
        code: `open('out.txt', 'w').write(open('in.txt').read() + 'out')\nawait double(input_data['number'])`,
      },
      bun: { ...bun, code: javascript },
      node: { ...node, code: javascript },
    }
    for (const [name, request] of Object.entries(requests)) {
      const input = { number: 21 }
      const result = await run({ ...request, input, files, functions, collect: ['*.txt'] })
      assert.deepEqual([result.value, result.outcome], [42, ok], `${name} ${result.stderr}`)
      const found = Object.entries(result.files).map(
        ([path, bytes]) => `${path}: ${Buffer.from(bytes).toString()}`,
      )
      assert.deepEqual(new Set(found), new Set(['in.txt: in', 'out.txt: inout']))
    }
    const { files: ofShell } = await run({ ...shell, code: 'cat in.txt > out', files, collect: ['out'] })
    assert.equal(Buffer.from(ofShell['out'] ?? '').toString(), 'in')
  })

  test('has the process limit of its run, even if it was started with that limit', async () => {
    const code = `
import os, time
count = 0
try:
    while count < 300:
        if os.fork() == 0:
            time.sleep(60)
        count += 1
except OSError:
    pass
time.sleep(0.1)
count`
    for (const limits of [{}, { processesMax: 20 }]) {
      const { outcome, value, receipt } = await run({ ...python, code, limits })
      const { value: most } = receipt.limits.processesMax
      // Who counts without refusing ends the run.
      if (outcome.kind === 'completed')
        assert.ok(Number(value) <= Number(most), `${String(value)} of ${most}`)
      else assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'processes', allowed: most })
    }
  })

  test('starts without delay', async () => {
    const request = { ...node, code: '1' }
    const cold = await guests.run(request)
    const parked = await run(request)
    assert.deepEqual([cold, parked].map(isWarm), [false, true])
    // A start takes tens of milliseconds of a processor, the rest hardly any.
    assert.ok(
      parked.usage.cpuMs < cold.usage.cpuMs,
      `${parked.usage.cpuMs} ms after a start for ${cold.usage.cpuMs} ms`,
    )
  })
})
