/**
 * The relay under ASan and UBSan, with bytes on its socket that no host would send: it ends or continues, but never
 * accesses invalid memory.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'

import { relayFrame } from '../../../src/jail/edge/relay-frames.ts'
import { encodeFrame, PayloadWriter } from '../../../src/jail/launch/frames.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { hasCommand } from '../seccomp/filtered-command.ts'

const native = join(checkoutRoot, 'native')
const rounds = 60
/** The exit code of ASan after a finding; the relay itself exits with 0 or 1. */
const foundCode = 99

describe('the relay', { skip: !hasCommand('cc') && 'there is no C compiler' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-relay-'))
  const program = join(folder, 'relay')
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('survives any bytes from its host', async () => {
    const sources = [...globSync(join(native, 'relay/*.c')), join(native, 'cell/frames.c'), stub()]
    const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all']
    const flags = ['-g', '-O1', '-std=gnu17', '-D_GNU_SOURCE', '-Wl,--wrap=main', '-I', join(native, 'cell')]
    execFileSync('cc', [...flags, ...sanitizers, '-I', join(native, 'relay'), '-o', program, ...sources])
    const random = seededRandom(9)
    for (let round = 0; round < rounds; round++) await live(random, round)
  })

  /** The program without the launcher's part, for which this is a stub. */
  function stub(): string {
    const path = join(folder, 'stub.c')
    execFileSync('sh', ['-c', `printf 'int main(void) { return 1; }' > '${path}'`])
    return path
  }

  async function live(random: () => number, round: number): Promise<void> {
    const options = {
      ASAN_OPTIONS: `exitcode=${foundCode}:detect_leaks=0`,
      UBSAN_OPTIONS: `exitcode=${foundCode}`,
    }
    const child = spawn(program, [], {
      argv0: 'relay',
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: options,
    })
    let errors = ''
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const control = child.stdio[3] as Socket
    control.on('error', () => undefined)
    control.resume()
    control.write(opening(round))
    for (let frames = 0; frames < 200; frames++) control.write(anyFrame(random))
    control.end()
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    assert.ok(signal === null && (code === 0 || code === 1), `round ${round}: ${signal ?? code}\n${errors}`)
  }
})

function opening(round: number): Buffer {
  const name = Buffer.from(`lazaret-test-relay-${process.pid}-${round}`)
  return encodeFrame(relayFrame.open, 0, new PayloadWriter().bytes(name).bytes(Buffer.alloc(32, 7)).finish())
}

/**
 * Mostly nearly valid frames: a few numbers of doors and connections, complete payloads, and sometimes a changed byte.
 */
function anyFrame(random: () => number): Buffer {
  const below = (end: number) => Math.floor(random() * end)
  const id = below(4) === 0 ? below(2 ** 32) : below(3) + 4096 * below(2)
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => below(256)))
  const payload = () => new PayloadWriter()
  const address = bytes([4, 16][below(2)] ?? 4)
  const drafts = [
    () =>
      encodeFrame(
        relayFrame.admit,
        id,
        payload().bytes(bytes(16)).u32(below(3)).u32(below(9)).u64(below(99)).finish(),
      ),
    () => encodeFrame(relayFrame.drop, id),
    () =>
      encodeFrame(
        relayFrame.connect,
        id,
        payload()
          .u32(1 + below(65_535))
          .bytes(address)
          .bytes(Buffer.alloc(below(40), 1))
          .finish(),
      ),
    () => encodeFrame(relayFrame.refuse, id),
    () =>
      encodeFrame(
        relayFrame.answer,
        id,
        payload()
          .u32(below(5))
          .bytes(bytes(below(60)))
          .finish(),
      ),
  ]
  const frame = drafts[below(drafts.length)]?.() ?? Buffer.alloc(0)
  if (below(100) === 0) frame[below(frame.length)] = below(256)
  return frame
}
