/**
 * Starts the Python harness as in a cell, but without one: with its own working folder, pipes, and the private channel
 * at descriptor 3. `LAZARET_TEST_PYTHON` names another interpreter to test.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { GuestMessage, GuestRequest } from '../../../src/runtimes/channel/channel-protocol.ts'

export interface GuestOptions {
  readonly input?: unknown
  readonly args?: readonly string[]
  readonly resultBytes?: number
  readonly files?: Readonly<Record<string, string>>
  /** Called for each message when it arrives. */
  readonly onMessage?: (message: GuestMessage, guest: ChildProcess) => void
}

export interface GuestRun {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly messages: readonly GuestMessage[]
}

export const python = process.env['LAZARET_TEST_PYTHON'] ?? '/usr/bin/python3'
export const harnessFolder = fileURLToPath(new URL('../../../src/runtimes/python/', import.meta.url))

/** Runs code until its process has ended. */
export async function runGuest(code: string, options: GuestOptions = {}): Promise<GuestRun> {
  const workspace = await mkdtemp(join(tmpdir(), 'lazaret-python-'))
  try {
    for (const [name, text] of Object.entries(options.files ?? {}))
      await writeFile(join(workspace, name), text)
    return await runIn(workspace, code, options)
  } finally {
    await rm(workspace, { recursive: true })
  }
}

async function runIn(workspace: string, code: string, options: GuestOptions): Promise<GuestRun> {
  const guest = spawn(python, ['-I', '-X', 'utf8', join(harnessFolder, 'guest.py')], {
    cwd: workspace,
    env: { PATH: '/usr/bin:/bin', HOME: workspace, LANG: 'C.UTF-8', TZ: 'UTC' },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const channel = guest.stdio[3] as Duplex
  // The guest may close its end at any time.
  channel.on('error', () => channel.destroy())
  guest.stdin?.on('error', () => guest.stdin?.destroy())
  guest.stdin?.end()
  const request: GuestRequest = {
    language: 'python',
    code,
    args: options.args ?? [],
    resultBytes: options.resultBytes ?? 1024 * 1024,
    ...('input' in options ? { input: options.input } : {}),
  }
  channel.write(frame(request))
  const closed = once(guest, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const [stdout, stderr, messages, [exitCode, signal]] = await Promise.all([
    readText(guest.stdout),
    readText(guest.stderr),
    readMessages(channel, (message) => options.onMessage?.(message, guest)),
    closed,
  ])
  return { exitCode, signal, stdout, stderr, messages }
}

function frame(request: GuestRequest): Buffer {
  const json = Buffer.from(JSON.stringify(request))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(json.length)
  return Buffer.concat([head, json])
}

async function readText(stream: Readable): Promise<string> {
  return Buffer.concat((await stream.toArray()) as Buffer[]).toString('utf8')
}

async function readMessages(
  channel: Duplex,
  onMessage: (message: GuestMessage) => void,
): Promise<readonly GuestMessage[]> {
  const messages: GuestMessage[] = []
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of channel as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE()) {
        const end = 4 + rest.readUInt32LE()
        const message = JSON.parse(rest.toString('utf8', 4, end)) as GuestMessage
        rest = rest.subarray(end)
        messages.push(message)
        onMessage(message)
      }
    }
  } catch {
    // The stream was destroyed above: the guest has closed its end, and earlier messages count.
  }
  return messages
}
