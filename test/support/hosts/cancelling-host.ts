/**
 * A host process that cancels runs while it reads a large message from them, and then has nothing left to do.
 *
 * Usage: cancelling-host.ts
 */
import { createLazaret } from '../create-lazaret.ts'

/** A process that only waits must have ended long before. */
const tooLateMs = 20_000
/** Longer than the host waits for a killed guest's last output, so that it ends the cell before it reads of the guest's end. */
const busyMs = 30

const lazaret = createLazaret({ onEvent: () => undefined, pools: { python: { max: 0 } } })
// It prints when the host has received most of the message, which takes much longer to read.
const code = `
import json, os, time
message = json.dumps({'type': 'value', 'text': '', 'truncated': False, 'value': {f'key{n}': n for n in range(200_000)}}).encode()
data = len(message).to_bytes(4, 'little') + message
while data: data = data[os.write(3, data):]
print('sent', flush=True)
time.sleep(600)`

async function cancelAtMessage(): Promise<string> {
  const cancel = new AbortController()
  const onOutput = () => {
    cancel.abort()
    for (const start = performance.now(); performance.now() - start < busyMs;);
  }
  const limits = { wallMs: 60_000, hostMs: 60_000, resultBytes: 64 * 1024 * 1024 }
  const { outcome } = await lazaret.run({ language: 'python', code, signal: cancel.signal, onOutput, limits })
  return outcome.kind
}

// In about every second run the end of the cell is read while the message is.
const runs = 8
for (let count = 0; count < runs; count++) process.stdout.write(`${await cancelAtMessage()},`)
await lazaret[Symbol.asyncDispose]()
setTimeout(() => {
  console.log(`still alive, with: ${process.getActiveResourcesInfo().join()}`)
  process.exit()
}, tooLateMs).unref()
