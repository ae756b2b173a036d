/**
 * Each host process claims the ids of its cells, so no two live cells have the same ids. On the host's network a guest
 * takes every name that such a claim might use. A Lazaret that starts meanwhile must not be affected.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { claimFolders } from '../../../src/jail/machine/id-claims.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { noPools, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret({ access: { networks: ['none', 'host'] } })

const takeNames = `
import socket, time
kept = []
for first in range(input_data['first'], input_data['first'] + input_data['count'], 256):
    try:
        one = socket.socket(socket.AF_UNIX)
        one.bind('\\0lazaret-ids-%d' % first)
        kept.append(one)
    except OSError: pass
print(len(kept), flush=True)
time.sleep(60)`

test('a guest on the host’s network does not prevent other host processes from claiming ids', async () => {
  const names = readFileSync('/proc/net/unix', 'latin1')
  const takenBefore = names.split(/@lazaret-ids-\d+\n/).length - 1
  const answered = Promise.withResolvers<void>()
  const controller = new AbortController()
  const run = guests.run({
    ...python,
    code: takeNames,
    network: 'host',
    input: { ...defaultUidRange },
    limits: { openFilesMax: 1024, wallMs: 60_000 },
    signal: controller.signal,
    onOutput: () => answered.resolve(),
  })
  await Promise.race([answered.promise, run])
  {
    await using another = createLazaret({ pools: noPools })
    const { outcome } = await another.run({ ...shell, code: ':' })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  }
  controller.abort()
  const { stdout } = await run
  const canTake = guests.level !== 'restricted'
  // Another guest on the machine may have taken some before.
  const taken = Number(stdout) + (canTake ? takenBefore : 0)
  assert.equal(taken > 250, canTake, 'names that the guest could take')
})

const lockFiles = `
import fcntl, os
opened = []
for path in input_data:
    for flags in (os.O_RDONLY, os.O_RDWR, os.O_PATH):
        try:
            os.open(path, flags)
            opened.append(path)
        except OSError: pass
opened`

test('a guest opens no file on which ids are claimed, so that it cannot lock it', async () => {
  const files = claimFolders.map((folder) => `${folder}/ids`)
  const { value } = await guests.run({ ...python, code: lockFiles, input: files })
  assert.deepEqual(value, [])
  if (process.getuid?.() === 0) assert.ok(files.some(existsSync))
})
