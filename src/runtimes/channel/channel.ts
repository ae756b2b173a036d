/**
 * The host's end of the private channel. A guest can forge everything that arrives. So frames are bounded, texts are
 * truncated, unknown messages are dropped, and nothing here decides how the run ended.
 */
import type { Duplex } from 'node:stream'

import type { Clock } from '../../core/clock.ts'
import type { Limits } from '../../core/limits.ts'
import type { Truncatable } from '../../core/result.ts'
import type { Steps } from '../../core/steps.ts'
import type { GuestClaims } from '../../result/exit.ts'
import type { ChannelListener } from './channel-listener.ts'
import { envelopeBytes, receivedBytesMax } from './channel-bytes.ts'
import { Claims } from './claims.ts'
import type { FunctionCalls } from '../functions/function-calls.ts'
import { IncomingMessage, lengthBytes } from './incoming-message.ts'
import { loopTurns } from './loop-turns.ts'
import { MessageRoom } from './message-room.ts'
import { withPatience } from '../work/patience.ts'
import { readMessage } from './read-message.ts'
import type { Message } from './read-message.ts'

/** The start of a call, as every harness writes it. A message that is too costly and starts otherwise counts as a value. */
const callStart = /^\{"type":"call","id":(\d{1,15}),/
const typeStart = /^\{"type":"(\w+)"/
const callStartBytes = 64
/** A message that is being received takes its bytes, its text, and its data twice: as they came, and decoded. */
export const formsOfMessage = 4
/** Short messages are counted only if they are kept, so that the end of a program always arrives. */
export const freeMessageBytes = 16 * 1024
const noRoom = 'more than the host has room for'

/** How long the channel may take to close after the main process has ended. */
const endMs = 10
/**
 * After this many turns of the loop without a byte, the socket counts as empty. One is not enough, because reading may only
 * have resumed in it.
 */
const quietTurns = 2
/** A turn reads at least 64 KiB if that much is available, so this many turns empty any socket. */
const drainedTurnsMax = 64
/** After this many turns without progress, the rest is given up. The loop serves guests in order, so each has its turn before. */
const stuckTurnsMax = 10_000

export class Channel {
  /** Resolves when the guest's end is closed. */
  readonly ended: Promise<void>
  readonly #stream: Duplex
  #claims: Claims
  #listener: ChannelListener
  #room: MessageRoom
  readonly #incoming: IncomingMessage
  /** Excludes accepted calls, which have their own limits. */
  #receivedBytes = 0
  #receivedBytesMax: number
  /** Bytes that were received but cannot be processed yet; `null` if there are none. */
  #held: Buffer | null = null
  /** Whether a message is being parsed in steps. Later messages wait for it. */
  #isReading = false
  /** Whether the caller has not yet taken earlier output. */
  #isPaused = false
  #isBroken = false
  /** Whether one piece of work has ended and the next has not begun. */
  #isBetween = false
  readonly #handlers: Readonly<Record<string, (chunk: Buffer) => void>>

  constructor(stream: Duplex, limits: Limits, listener: ChannelListener) {
    this.#stream = stream
    this.#room = new MessageRoom(limits.resultBytes)
    this.#listener = listener
    this.#claims = new Claims(limits, listener.elapsed)
    this.#watchCalls()
    const messageBytes = limits.resultBytes + envelopeBytes
    this.#incoming = new IncomingMessage(messageBytes, {
      hasRoom: (bytes) => bytes <= freeMessageBytes || this.#hold(bytes),
      onMessage: (message) => this.#read(message),
      onSkipped: (start) => this.#refuse(start, noRoom),
      onMalformed: () => this.#breakOff(),
    })
    this.#receivedBytesMax = receivedBytesMax(limits, listener)
    const ended = Promise.withResolvers<void>()
    this.ended = ended.promise
    this.#handlers = {
      close: () => ended.resolve(),
      data: (chunk: Buffer) => this.#receive(chunk),
      end: () => stream.destroy(),
    }
    for (const [event, handler] of Object.entries(this.#handlers)) stream.on(event, handler)
    stream.resume() // an earlier reader may have left it paused
  }

  /**
   * Begins the next piece of work of the same guest. Later messages belong to it and have its limits, but the size limit of
   * one message stays the same. Messages that arrived after the end of the previous piece are held until now.
   */
  next(limits: Limits, listener: ChannelListener): void {
    this.#room = new MessageRoom(limits.resultBytes)
    this.#listener = listener
    this.#claims = new Claims(limits, listener.elapsed)
    this.#watchCalls()
    this.#receivedBytes = this.#held?.length ?? 0
    this.#receivedBytesMax = receivedBytesMax(limits, listener)
    this.#isBetween = false
    // The guest has sent too much between two pieces of work.
    if (this.#isBroken) listener.onFlood()
    this.#resume()
  }

  /** Stops listening: the stream may be used for another run. */
  release(): void {
    this.close()
    this.#calls?.end()
    for (const [event, handler] of Object.entries(this.#handlers)) this.#stream.off(event, handler)
  }

  /** Pauses reading, so that a guest that sends more has to wait. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused
    if (!isPaused) this.#resume()
  }

  get claims(): GuestClaims {
    return this.#claims.all
  }

  get truncated(): Set<Truncatable> {
    return this.#claims.truncated
  }

  /** Whether reading is delayed only by the turns of the loop, and not by the guest, a function or the end of the run. */
  get isBusy(): boolean {
    if (this.#isBroken || this.#listener.budget.isOver) return false
    return this.#isReading || (this.#held !== null && this.#calls?.isFull !== true)
  }

  /**
   * Resolves when the guest's end is closed, or when no more arrives although a descendant may hold it open. By then, all
   * messages that the guest sent before its end have been read, within the budget.
   */
  async drain(clock: Clock): Promise<void> {
    await withPatience(this.ended, endMs, clock)
    let [quiet, drained, stuck] = [0, 0, 0]
    while (quiet < quietTurns && drained < drainedTurnsMax && stuck < stuckTurnsMax) {
      if (this.#stream.closed && !this.isBusy) return
      const { budget } = this.#listener
      const [wasBusy, receivedBefore, leftBefore] = [this.isBusy, this.#receivedBytes, budget.leftMs]
      // The loop reads sockets between two timers.
      await new Promise<void>((resolve) => clock.after(1, resolve))
      const hasReceived = this.#receivedBytes !== receivedBefore
      quiet = wasBusy || this.isBusy || hasReceived ? 0 : quiet + 1
      if (!wasBusy && quiet === 0) drained++
      stuck = hasReceived || budget.leftMs !== leftBefore ? 0 : stuck + 1
    }
  }

  /** Stops reading. */
  close(): void {
    if (this.#isReading) this.truncated.add('value')
    this.#isReading = false
    this.#break()
  }

  /** The run has ended or is ending: calls no more functions, but still reads the remaining messages. */
  endCalls(): void {
    this.#calls?.end()
  }

  #receive(chunk: Buffer): void {
    this.#receivedBytes += chunk.length
    // Messages after the end of one piece of work belong to the next.
    const counted = this.#isBetween ? (this.#held?.length ?? 0) + chunk.length : this.#receivedBytes
    if (counted > this.#receivedBytesMax) {
      this.#break()
      if (!this.#isBetween) this.#listener.onFlood()
    }
    if (this.#held === null) this.#takeAll(chunk)
    else this.#held = Buffer.concat([this.#held, chunk])
  }

  #takeAll(bytes: Buffer): void {
    let rest = bytes
    while (rest.length > 0 && !this.#isBroken && !this.#mustWait)
      rest = rest.subarray(this.#incoming.take(rest))
    if (this.#isBroken || !this.#mustWait) return
    this.#held = rest
    this.#stream.pause()
    if (loopTurns.isOver) loopTurns.wait(() => this.#resume())
  }

  get #calls(): FunctionCalls | null {
    return this.#listener.calls ?? null
  }

  #watchCalls(): void {
    const calls = this.#calls
    if (calls !== null) calls.onRoom = () => this.#resume()
  }

  /** Whether to stop reading for now. */
  get #mustWait(): boolean {
    const isHeldHere = this.#isReading || this.#isBetween || this.#isPaused
    return isHeldHere || loopTurns.isOver || (this.#calls?.isFull ?? false)
  }

  #resume(): void {
    const held = this.#held
    if (held === null || this.#isReading || this.#isBetween || this.#isPaused) return
    this.#held = null
    this.#takeAll(held)
    if (this.#held === null) this.#stream.resume()
  }

  #read(message: Buffer): void {
    this.#isReading = true
    this.#listener.budget.perform(this.#understand(message), (finish) => {
      this.#isReading = false
      finish()
      this.#resume()
    })
  }

  /** Processes no more bytes. Earlier messages still count. */
  #break(): void {
    this.#isBroken = true
    this.#incoming.forget()
  }

  /** The bytes violate the protocol, so guest code must have written to the descriptor itself. */
  #breakOff(): void {
    this.#break()
    this.#listener.onMalformed?.()
  }

  /** Parses a message. Returns an action that does not count against the run's budget. */
  *#understand(json: Buffer): Steps<() => void> {
    const message = yield* readMessage(json, this.#room)
    if (message === undefined) this.#breakOff()
    if (message === 'too costly') this.#refuse(json, `more than ${this.#room.tooMuch}`)
    const counted = json.length > freeMessageBytes ? json.length : 0
    if (message === undefined || message === 'too costly' || message === null) {
      this.#giveBack(counted)
      return nothing
    }
    const { fields, bytes, cost } = message
    const kept = keptAs(fields['type'])
    if (kept === undefined) this.#giveBack(counted)
    else if (counted === 0 && !this.#hold(bytes)) {
      this.truncated.add(kept)
      return nothing
    }
    switch (fields['type']) {
      case 'log':
        this.#takeLog(fields)
        break
      case 'value':
        yield* this.#claims.takeValue(message)
        break
      case 'display':
        this.#takeDisplay(fields)
        break
      case 'clear':
        this.#clearDisplays(fields)
        break
      case 'error':
        this.#claims.takeError(fields)
        break
      case 'end':
        return () => this.#takeEnd(fields)
      case 'late':
      case 'stopped':
      case 'denied':
      case 'used':
        return () => this.#listener.onOther?.(fields)
      case 'call': {
        if (this.#calls === null) break
        const { isEntitled, invoke } = yield* this.#calls.take(message)
        if (!isEntitled) return invoke
        this.#receivedBytes -= bytes + lengthBytes
        this.#room.giveBack(cost)
        return invoke
      }
    }
    return nothing
  }

  /** Returns whether there is room for so many bytes of messages. */
  #hold(bytes: number): boolean {
    return this.#listener.room?.tryGrow(formsOfMessage * bytes) !== false
  }

  #giveBack(bytes: number): void {
    this.#listener.room?.tryGrow(-formsOfMessage * bytes)
  }

  #takeLog(fields: Message['fields']): void {
    const entry = this.#claims.takeLog(fields)
    if (entry !== undefined) this.#listener.onLog?.(entry)
  }

  #takeDisplay(fields: Message['fields']): void {
    const kept = this.#claims.takeDisplay(fields)
    this.#freeDisplays()
    if (kept !== undefined) this.#listener.onDisplay?.(kept.bundle, kept.facts)
  }

  #clearDisplays({ wait }: Message['fields']): void {
    const waits = wait === true
    this.#claims.displayed.clear(waits)
    this.#freeDisplays()
    this.#listener.onClear?.(waits)
  }

  #freeDisplays(): void {
    const freed = this.#claims.displayed.takeFreedBytes()
    this.#receivedBytes -= freed
    this.#giveBack(freed)
  }

  /** A message that is not taken, by its beginning. */
  #refuse(json: Buffer, why: string): void {
    const start = json.toString('latin1', 0, callStartBytes)
    const id = this.#calls === null ? undefined : callStart.exec(start)?.[1]
    if (id === undefined) this.truncated.add(keptAs(typeStart.exec(start)?.[1]) ?? 'value')
    else this.#calls?.refuse(Number(id), `The arguments hold ${why}.`)
  }

  #takeEnd({ exitCode }: Message['fields']): void {
    if (typeof exitCode !== 'number' || !Number.isInteger(exitCode) || exitCode < 0 || exitCode > 255) return
    if (this.#listener.isLasting === true) this.#isBetween = true
    else this.#break()
    this.#listener.onEnd(exitCode)
  }
}

type Kept = 'logs' | 'value' | 'displays'

/** What the host keeps of a message of this type until the work ends. */
function keptAs(type: unknown): Kept | undefined {
  if (type === 'log') return 'logs'
  if (type === 'value') return 'value'
  return type === 'display' ? 'displays' : undefined
}

const nothing = (): void => undefined
