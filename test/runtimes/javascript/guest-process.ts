/** Runs the built harness as in a cell, but without one: the private descriptor is a socket pair. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import type { Duplex, Readable } from 'node:stream'
import { describe } from 'node:test'
import type { GuestError } from '../../../src/core/outcome.ts'
import { decodeValue, encodeValue } from '../../../src/core/values/values.ts'
import type { GuestMessage } from '../../../src/runtimes/channel/channel-protocol.ts'

const root = join(import.meta.dirname, '../../..')
const harnesses = { bun: 'guest-bun.js', node: 'guest-node.js' }
const bun = join(root, `node_modules/@oven/bun-linux-${process.arch}/bin/bun`)
// A guest that hangs is killed, and its test fails because the exit code is missing.
const deadlineMs = 30_000
const headerBytes = 4

export const engines = { bun, node: process.execPath }
export type EngineName = keyof typeof engines

export interface GuestProgram {
  readonly code: string
  readonly language?: 'javascript' | 'typescript'
  readonly input?: unknown
  readonly args?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  readonly resultBytes?: number
}

export interface GuestEnd {
  /** `null` if a signal ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly messages: readonly GuestMessage[]
  /** The decoded value; absent if none was sent. */
  readonly value?: unknown
  readonly valueText?: string
  readonly isValueTruncated?: boolean
  readonly error?: GuestError & { readonly phase: 'syntax' | 'run' }
  readonly logs: readonly { readonly level: string; readonly text: string }[]
}

/** Declares the same tests for each engine that is installed. */
export function describeEngines(
  title: string,
  declare: (run: (program: GuestProgram | string) => Promise<GuestEnd>) => void,
): void {
  for (const name of ['bun', 'node'] as const) {
    const skip = existsSync(engines[name]) ? false : `${name} is not installed`
    describe(`${title} in ${name}`, { skip }, () => {
      declare((program) => runGuest(name, typeof program === 'string' ? { code: program } : program))
    })
  }
}

export async function runGuest(engine: EngineName, program: GuestProgram): Promise<GuestEnd> {
  const workspace = await mkdtemp(join(tmpdir(), 'lazaret-guest-'))
  try {
    await writeFiles(workspace, program.files ?? {})
    const guest = spawn(engines[engine], [join(root, 'dist/runtimes/javascript', harnesses[engine])], {
      cwd: workspace,
      env: { PATH: '/usr/bin:/bin', HOME: workspace, TZ: 'UTC', LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
    })
    const channel = guest.stdio[3] as Duplex
    // A guest may end, or close its end, before it has read everything.
    channel.on('error', () => {})
    channel.write(frameOf(program))
    const end = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      guest.once('error', reject)
      guest.once('close', (code, signal) => resolve([code, signal]))
    })
    const [stdout, stderr, answer] = await Promise.all([
      text(guest.stdout as Readable),
      text(guest.stderr as Readable),
      buffer(channel).catch(() => Buffer.alloc(0)),
    ])
    const [exitCode, signal] = await end
    return { exitCode, signal, stdout, stderr, ...readAnswer(answer) }
  } finally {
    await rm(workspace, { recursive: true, force: true })
  }
}

async function writeFiles(workspace: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, name)), { recursive: true })
    await writeFile(join(workspace, name), content)
  }
}

function frameOf({
  code,
  language = 'javascript',
  args = [],
  resultBytes = 1 << 24,
  ...rest
}: GuestProgram): Buffer {
  const input = 'input' in rest ? { input: encodeValue(rest.input).value } : {}
  const body = Buffer.from(JSON.stringify({ language, code, args, resultBytes, ...input }))
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32LE(body.length)
  return Buffer.concat([header, body])
}

function readAnswer(answer: Buffer): Omit<GuestEnd, 'exitCode' | 'signal' | 'stdout' | 'stderr'> {
  const messages: GuestMessage[] = []
  for (let offset = 0; offset < answer.length;) {
    const length = answer.readUInt32LE(offset)
    const start = offset + headerBytes
    messages.push(JSON.parse(answer.toString('utf8', start, start + length)) as GuestMessage)
    offset = start + length
  }
  const value = messages.find((message) => message.type === 'value')
  const error = messages.find((message) => message.type === 'error')
  return {
    messages,
    logs: messages
      .filter((message) => message.type === 'log')
      .map(({ level, text: said }) => ({ level, text: said })),
    ...(value && {
      value: decodeValue(value.value),
      valueText: value.text,
      isValueTruncated: value.truncated,
    }),
    ...(error && { error: { ...error.error, phase: error.phase } }),
  }
}
