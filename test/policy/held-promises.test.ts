/** All that clients may make this process hold fits into what a small machine leaves for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { limitRanges } from '../../src/core/limits.ts'
import { resolveHeldBytes, resolveRoom } from '../../src/policy/room-size.ts'
import { heldPerByte } from '../../src/result/capture.ts'
import { waitingBytesMax } from '../../src/result/delivery.ts'
import { formsOfMessage, freeMessageBytes } from '../../src/runtimes/channel/channel.ts'
import { endedBytesMax } from '../../src/sandbox/processes/log-room.ts'
import { keptBytesMax } from '../../src/sandbox/processes/log-stream.ts'
import { history, runningMax } from '../../src/sandbox/processes/process-table.ts'
import { resourceLimits, threadsMax } from '../../src/sandbox/processes/search-threads.ts'

const MiB = 1024 ** 2
/** The smallest supported machine, its kernel and this process at rest, and what Node gives its heap there. */
const small = { availableBytes: 1024 * MiB - 224 * MiB, heapBytes: 512 * MiB }
const bytesPerCharacter = 2

const available = () => small.availableBytes
const account = resolveHeldBytes({}, available, small.heapBytes)
const { memoryTotalBytes, runningMax: runs } = resolveRoom({}, available)

test('on a machine with 1 GiB, all promises together are less than what guests leave', () => {
  const sandboxesMax = Math.floor(memoryTotalBytes / limitRanges.memoryBytes.least)
  const heapOfThread = (resourceLimits.maxOldGenerationSizeMb + resourceLimits.maxYoungGenerationSizeMb) * MiB
  const uncounted = {
    remembered: sandboxesMax * history.charactersMax * bytesPerCharacter,
    threads: threadsMax * (heapOfThread + keptBytesMax),
    messages: runs * freeMessageBytes * formsOfMessage,
    deliveries: runs * waitingBytesMax * (1 + bytesPerCharacter),
  }
  const sum = account + Object.values(uncounted).reduce((all, bytes) => all + bytes, 0)
  const left = small.availableBytes - memoryTotalBytes
  assert.ok(sum <= left, `${Math.ceil(sum / MiB)} of ${Math.floor(left / MiB)} MiB are promised`)
})

test('output as text, all of one account, takes no more than a part of the heap', () => {
  // Twice: as pieces, and joined.
  assert.equal(heldPerByte, 2 * bytesPerCharacter)
  assert.ok(account <= small.heapBytes / 4)
  // The largest outputs of nine runs, which each request may ask for, are more: they are cut as they arrive.
  assert.ok(9 * limitRanges.outputBytes.most * heldPerByte > account)
})

test('the logs of one sandbox leave room for other requests', () => {
  assert.ok(endedBytesMax < account / 2)
  assert.ok(endedBytesMax + 2 * runningMax * keptBytesMax > account / 2, 'then the account bounds them')
})
