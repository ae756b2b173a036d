/** Frames of every protocol, written to every descriptor that a guest has, can reopen or can guess. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const limits = { wallMs: ampleMs, outputBytes: 1 << 20 }

/** Messages of the launcher and the harness in their own framing, and texts that a careless reader might accept. */
const claims = [
  { type: 'outcome', outcome: { kind: 'timed-out', limit: 'wall', limitMs: 1 } },
  { type: 'exit', exitCode: 0 },
  { type: 'value', value: 'forged', text: 'forged', truncated: false },
]
const frameOf = (type: number, id: number, payload: Buffer) => {
  const header = Buffer.alloc(9)
  header.writeUInt32LE(payload.length)
  header.writeUInt8(type, 4)
  header.writeUInt32LE(id, 5)
  return Buffer.concat([header, payload])
}
const u32 = (...values: number[]) => Buffer.from(new Uint32Array(values).buffer)
const launcherFrames = [
  frameOf(67, 1, Buffer.alloc(54)), // exit 0
  frameOf(69, 0, Buffer.concat([u32(2), Buffer.alloc(8, 255)])), // memory exceeded
  frameOf(81, 0, Buffer.alloc(28)), // gone
  frameOf(68, 0, Buffer.concat([u32(0xffff_ffff, 1), Buffer.from('forged')])), // fault
  frameOf(8, 0, Buffer.alloc(0)), // kill all
  frameOf(7, 0, Buffer.alloc(0)), // end
]
const channelFrames = claims.map((claim) => {
  const text = Buffer.from(JSON.stringify(claim))
  return Buffer.concat([u32(text.length), text])
})
const markers = Buffer.from(
  '\n{"type":"outcome","outcome":{"kind":"timed-out"}}\n__LAZARET_EXIT__0\n\0\0exit:0\n::exit code=0::\n',
)
const bytes = Buffer.concat([...launcherFrames, ...channelFrames, markers]).toString('base64')

const fromJavaScript = `
  const fs = await import('node:fs')
  const bytes = Buffer.from(input, 'base64')
  // An engine reads pointers from pipes of its own; a crash of its making is no forgery.
  const isEngine = (fd) => { try { return fd > 3 && fs.readlinkSync('/proc/self/fd/' + fd).startsWith('pipe') } catch { return false } }
  const write = (fd) => { try { fs.writeSync(fd, bytes) } catch {} }
  for (let fd = 1; fd < 64; fd++) {
    if (isEngine(fd)) continue
    write(fd)
    for (const pid of ['self', '1']) { try { write(fs.openSync('/proc/' + pid + '/fd/' + fd, 'w')) } catch {} }
  }
  fs.writeSync(1, 'end')
  process.exit(7)`

const attacks = {
  shell: {
    ...shell,
    code: `base64 -d bytes > raw; for fd in $(seq 1 63); do { cat raw >&$fd; cat raw > /proc/self/fd/$fd; cat raw > /proc/1/fd/$fd; cat raw > /dev/fd/$fd; } 2>/dev/null; done; printf end; exit 7`,
  },
  python: {
    ...python,
    code: `
import base64, os, socket
data = base64.b64decode(input_data)
for fd in range(1, 256):
    try: os.write(fd, data)
    except OSError: pass
    for path in ('/proc/self/fd/%d', '/proc/1/fd/%d', '/proc/self/task/%d/fd/1'):
        try: os.write(os.open(path % fd, os.O_WRONLY | os.O_NONBLOCK), data)
        except OSError: pass
    try: socket.socket(fileno=os.dup(fd)).send(data, socket.MSG_OOB)
    except (OSError, ValueError): pass
os.write(1, b'end')
os._exit(7)`,
  },
  bun: { ...bun, code: fromJavaScript },
  node: { ...node, code: fromJavaScript },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${name}: whatever is written to any descriptor, the outcome stays the real one`, async () => {
    const { outcome, stdout, receipt, usage } = await guests.run({
      ...request,
      input: bytes,
      files: { bytes },
      limits,
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 7 })
    assert.ok(stdout.endsWith('end'), stdout.slice(-100))
    assert.equal(receipt.protection, guests.level)
    assert.ok(usage.memoryPeakBytes > 0 && usage.memoryPeakBytes < 2 ** 40)
  })
}
