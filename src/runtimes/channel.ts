/**
 * The host's end of the private channel. Everything that arrives is the guest's to forge: frames are bounded, texts
 * are cut, unknown messages are dropped, and nothing here says how the run ended.
 */
import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

import type { Limits } from '../core/limits.ts'
import type { GuestError } from '../core/outcome.ts'
import type { LogEntry, MimeBundle, Truncatable } from '../core/result.ts'
import { Blocks } from '../result/blocks.ts'
import type { GuestClaims } from '../result/exit.ts'
import type { GuestRequest } from './channel-protocol.ts'
import { fitsResult } from './claimed-value.ts'
import type { FunctionCalls } from './function-calls.ts'
import { measureMessage } from './message-cost.ts'
import { frameMessage } from './message-frame.ts'

const textCharactersMax = 64 * 1024
/** JSON writes a control character as six. */
const escapeFactor = 6
/** What surrounds a value in its message: its text, escaped, and the names of the fields. */
const envelopeBytes = textCharactersMax * escapeFactor + 1024
/** More than a person would send, and about a second of the host's time. Shorter messages cannot hold so much. */
const containersMax = 1_000_000
const keysMax = 250_000
const unmeasuredBytes = 1024 * 1024
/** How a harness begins a call; what another guest begins otherwise is a value like any. */
const callStart = /^\{"type":"call","id":(\d{1,15}),/
const callStartBytes = 64
/** An entry costs the host some 100 bytes beside its text, so many empty ones are not free. */
const logsMax = 65_536
const displaysMax = 4096

export interface ChannelListener {
  /** Milliseconds since the guest started. */
  readonly elapsed: () => number
  /** The guest has sent more than all its logs and results together may take. */
  readonly onFlood: () => void
  /** The guest says that its program is over: the last that it has to say. */
  readonly onEnd: (exitCode: number) => void
  /** Where calls of host functions go, when the request has any. */
  readonly calls?: FunctionCalls | null
}

export class Channel {
  /** Resolves when the guest's end is closed. */
  readonly ended: Promise<void>
  readonly truncated = new Set<Truncatable>()
  readonly #stream: Duplex
  readonly #listener: ChannelListener
  readonly #calls: FunctionCalls | null
  readonly #limits: Limits
  readonly #logs: LogEntry[] = []
  readonly #displays: MimeBundle[] = []
  #value: GuestClaims['value']
  #error: GuestClaims['error']
  /** The message that is being received: its length, then its bytes. */
  readonly #head = Buffer.alloc(4)
  #headBytes = 0
  #body = new Blocks()
  #isBodyEmpty = true
  #bodyBytesLeft = 0
  /** Calls that the guest is entitled to are not counted: they have limits of their own. */
  #receivedBytes = 0
  readonly #receivedBytesMax: number
  /** What has been read while there were too many calls to answer; `null` while there are not. */
  #held: Buffer | null = null
  #logBytesLeft: number
  #displayBytesLeft: number
  #isBroken = false

  constructor(stream: Duplex, limits: Limits, listener: ChannelListener) {
    this.#stream = stream
    this.#limits = limits
    this.#listener = listener
    this.#calls = listener.calls ?? null
    if (this.#calls !== null) this.#calls.onRoom = () => this.#resume()
    const messageBytes = limits.resultBytes + envelopeBytes
    // Logs are counted as text, the value, the displays and a call that is on its way as JSON.
    this.#receivedBytesMax = limits.outputBytes * escapeFactor + (this.#calls === null ? 2 : 3) * messageBytes
    this.#logBytesLeft = limits.outputBytes
    this.#displayBytesLeft = limits.resultBytes
    this.ended = new Promise((resolve) => stream.once('close', resolve))
    stream.on('data', (chunk: Buffer) => this.#receive(chunk))
    stream.resume() // it was paused when somebody read from it before
    stream.on('end', () => stream.destroy())
  }

  get claims(): GuestClaims {
    return {
      ...(this.#value === undefined ? {} : { value: this.#value }),
      ...(this.#error === undefined ? {} : { error: this.#error }),
      logs: this.#logs,
      displays: this.#displays,
    }
  }

  /** The run is over, or about to be: nothing more is called, and what else there is can be read to its end. */
  endCalls(): void {
    this.#calls?.end()
  }

  #receive(chunk: Buffer): void {
    this.#receivedBytes += chunk.length
    if (this.#receivedBytes > this.#receivedBytesMax) {
      this.#break()
      this.#listener.onFlood()
    }
    if (this.#held === null) this.#takeAll(chunk)
    else this.#held = Buffer.concat([this.#held, chunk])
  }

  #takeAll(bytes: Buffer): void {
    let rest = bytes
    const isFull = () => this.#calls?.isFull ?? false
    while (rest.length > 0 && !this.#isBroken && !isFull()) rest = rest.subarray(this.#take(rest))
    if (this.#isBroken || !isFull()) return
    this.#held = rest
    this.#stream.pause()
  }

  #resume(): void {
    const held = this.#held
    if (held === null) return
    this.#held = null
    this.#takeAll(held)
    if (this.#held === null) this.#stream.resume()
  }

  /** Takes what belongs to the message that is being received; answers how many bytes that was. */
  #take(bytes: Buffer): number {
    if (this.#headBytes < this.#head.length) {
      const taken = bytes.copy(this.#head, this.#headBytes)
      this.#headBytes += taken
      if (this.#headBytes === this.#head.length) this.#begin(this.#head.readUInt32LE(0))
      return taken
    }
    const part = bytes.subarray(0, this.#bodyBytesLeft)
    this.#bodyBytesLeft -= part.length
    // Most messages are small and come whole: they need no block of their own.
    if (this.#bodyBytesLeft === 0 && this.#isBodyEmpty) this.#complete(part)
    else {
      this.#body.add(part)
      this.#isBodyEmpty = false
      if (this.#bodyBytesLeft === 0) this.#complete(this.#body.join())
    }
    return part.length
  }

  #begin(length: number): void {
    if (length === 0 || length > this.#limits.resultBytes + envelopeBytes) this.#break()
    this.#bodyBytesLeft = length
  }

  #complete(message: Buffer): void {
    this.#headBytes = 0
    if (!this.#isBodyEmpty) this.#body = new Blocks()
    this.#isBodyEmpty = true
    this.#understand(message)
  }

  /** Not our protocol any more: the guest wrote to the descriptor itself. What came before stays. */
  #break(): void {
    this.#isBroken = true
    this.#body = new Blocks()
  }

  #understand(json: Buffer): void {
    if (json.length > unmeasuredBytes && isTooCostly(json)) {
      const id =
        this.#calls === null ? undefined : callStart.exec(json.toString('latin1', 0, callStartBytes))?.[1]
      if (id === undefined) this.truncated.add('value')
      else this.#calls?.refuse(Number(id), `The arguments hold more than ${tooMuch}.`)
      return
    }
    let message: unknown
    try {
      message = JSON.parse(json.toString('utf8'))
    } catch {
      this.#break()
      return
    }
    if (!isRecord(message)) return
    if (message['type'] === 'log') this.#takeLog(message)
    else if (message['type'] === 'value') this.#takeValue(message, Buffer.byteLength(json))
    else if (message['type'] === 'display') this.#takeDisplay(message)
    else if (message['type'] === 'error') this.#takeError(message)
    else if (message['type'] === 'end') this.#takeEnd(message)
    else if (message['type'] === 'call') this.#takeCall(message, json.length)
  }

  #takeLog({ level, text }: Record<string, unknown>): void {
    if (!isLevel(level) || typeof text !== 'string') return
    if (this.#logs.length >= logsMax || this.#logBytesLeft === 0) {
      this.truncated.add('logs')
      return
    }
    const kept = cutToBytes(text.slice(0, textCharactersMax), this.#logBytesLeft)
    this.#logBytesLeft -= Buffer.byteLength(kept)
    if (kept.length < text.length) this.truncated.add('logs')
    if (kept.length > 0 || text.length === 0)
      this.#logs.push({ level, text: kept, atMs: this.#listener.elapsed() })
    // An empty line has no bytes but is an entry; without this charge it would be free.
    if (text.length === 0) this.#logBytesLeft -= 1
  }

  #takeValue(message: Record<string, unknown>, frameBytes: number): void {
    if (!fitsResult(message['value'], { frameBytes, maxBytes: this.#limits.resultBytes })) {
      this.truncated.add('value')
      return
    }
    const text = typeof message['text'] === 'string' ? message['text'].slice(0, textCharactersMax) : ''
    this.#value = { tagged: message['value'], text }
    if (message['truncated'] === true) this.truncated.add('value')
  }

  #takeDisplay({ bundle, truncated }: Record<string, unknown>): void {
    if (truncated === true) this.truncated.add('displays')
    if (!isRecord(bundle)) return
    const entries = Object.entries(bundle).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
    const bytes = entries.reduce((sum, [type, text]) => sum + type.length + text.length, 1)
    if (bytes > this.#displayBytesLeft || this.#displays.length >= displaysMax) {
      this.truncated.add('displays')
      return
    }
    this.#displayBytesLeft -= bytes
    this.#displays.push(Object.fromEntries(entries))
  }

  #takeCall(message: Record<string, unknown>, bytes: number): void {
    if (this.#calls?.take(message, bytes) === true) this.#receivedBytes -= bytes + this.#head.length
  }

  #takeEnd({ exitCode }: Record<string, unknown>): void {
    if (typeof exitCode !== 'number' || !Number.isInteger(exitCode) || exitCode < 0 || exitCode > 255) return
    this.#break()
    this.#listener.onEnd(exitCode)
  }

  #takeError({ phase, error }: Record<string, unknown>): void {
    if ((phase !== 'syntax' && phase !== 'run') || !isRecord(error)) return
    this.#error = { phase, error: takeGuestError(error) }
  }
}

export function encodeGuestRequest(request: GuestRequest): Buffer {
  return frameMessage(JSON.stringify(request))
}

const tooMuch = `${containersMax} lists and objects, or ${keysMax} different keys`

function isTooCostly(json: Buffer): boolean {
  const { containers, keys } = measureMessage(json)
  return containers > containersMax || keys > keysMax
}

const levels: readonly string[] = ['debug', 'log', 'info', 'warn', 'error']

/** At most so many bytes of UTF-8, cut between characters. */
function cutToBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  return new StringDecoder('utf8').write(Buffer.from(text).subarray(0, most))
}

function isLevel(level: unknown): level is LogEntry['level'] {
  return typeof level === 'string' && levels.includes(level)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function takeGuestError(error: Record<string, unknown>): GuestError {
  const text = (key: string, most: number): string | undefined => {
    const value = error[key]
    return typeof value === 'string' ? value.slice(0, most) : undefined
  }
  const position = (key: string): number | undefined => {
    const value = error[key]
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
  }
  const [stack, line, column] = [text('stack', textCharactersMax), position('line'), position('column')]
  return {
    name: text('name', 256) ?? 'Error',
    message: text('message', textCharactersMax) ?? '',
    ...(stack === undefined ? {} : { stack }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  }
}
