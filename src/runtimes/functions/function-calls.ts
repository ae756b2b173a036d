/**
 * Calls of host functions by the guest, from the message to the answer. A guest can forge every part of a message. So only
 * the request's own functions can be called, calls are counted, and the number of open calls is bounded.
 */
import type { Duplex } from 'node:stream'

import type { Clock } from '../../core/clock.ts'
import { decodeSteps } from '../../core/values/decode-value.ts'
import { encodeSteps } from '../../core/values/encode-value.ts'
import type { Limits } from '../../core/limits.ts'
import type { HostFunction, RunHandles } from '../../core/request.ts'
import type { Steps } from '../../core/steps.ts'
import { callBytesAtOnce, callsAtOnceMax } from '../channel/channel-protocol.ts'
import { describeUnsendable } from './function-answer.ts'
import { FunctionError, writeThrow } from './function-error.ts'
import { GuestWriter } from '../channel/guest-writer.ts'
import type { HostBudget } from '../channel/host-budget.ts'
import { loopTurns } from '../channel/loop-turns.ts'
import { frameLongMessage, frameMessage } from '../channel/message-frame.ts'
import { OpenCall } from './open-call.ts'
import type { Message } from '../channel/read-message.ts'

/** Additional bytes for the envelope of the last frame, with which a correct harness may exceed its window. */
const frameMarginBytes = 64 * 1024

export interface FunctionCallsParts {
  readonly functions: Readonly<Record<string, HostFunction>>
  readonly limits: Limits
  readonly clock: Clock
  readonly budget: HostBudget
  /** Where the answers go. */
  readonly stream: Duplex
}

/** The result of a call that waits to be sent. */
type Answer = { readonly call: OpenCall } & (
  | { readonly name: string; readonly value: unknown }
  | { readonly thrown: unknown }
)

interface TakenCall {
  readonly isEntitled: boolean
  readonly invoke: () => void
}

const noCall: TakenCall = { isEntitled: false, invoke: () => undefined }

/** `null` for a guest without a harness, or if there are no functions. */
export function openCalls(
  stream: Duplex | null,
  {
    handles,
    ...rest
  }: Pick<FunctionCallsParts, 'limits' | 'clock' | 'budget'> & { readonly handles: RunHandles },
): FunctionCalls | null {
  const { functions } = handles
  return stream === null || functions === undefined ? null : new FunctionCalls({ ...rest, functions, stream })
}

/**
 * The most lists, objects and similar values in one answer: the garbage collector blocks the event loop while it moves
 * them.
 */
const answerObjectsMax = 100_000

export class FunctionCalls {
  /** Called when calls are accepted again after `isFull`. */
  onRoom: () => void = () => undefined
  readonly #functions: ReadonlyMap<unknown, HostFunction>
  readonly #parts: FunctionCallsParts
  readonly #bytesMax: number
  readonly #run = new AbortController()
  readonly #open = new Set<OpenCall>()
  #openBytes = 0
  #callsLeft: number
  /** Bounded by the number of open calls: a call stays open until its answer is sent. */
  readonly #answers: Answer[] = []
  /** Whether an answer is being encoded. */
  #isAnswering = false
  #hasRoomAgain = false
  readonly #writer: GuestWriter
  readonly #onDrain = (): void => this.#sendAnswers()

  constructor(parts: FunctionCallsParts) {
    this.#parts = parts
    this.#functions = new Map(Object.entries(parts.functions))
    this.#callsLeft = parts.limits.functionCallsMax
    this.#bytesMax = callBytesAtOnce + parts.limits.resultBytes + frameMarginBytes
    this.#writer = GuestWriter.of(parts.stream, parts.clock)
    this.#writer.onDrain = this.#onDrain
  }

  /** Whether the guest has exceeded its window of unanswered calls. Then nothing more must be read until `onRoom`. */
  get isFull(): boolean {
    return this.#open.size > callsAtOnceMax || this.#openBytes > this.#bytesMax
  }

  /** Takes a `call` message. Returns whether the call is accepted, and a function that makes it. */
  *take(message: Message): Steps<TakenCall> {
    const { id, name, args } = message.fields
    if (this.#run.signal.aborted || !isId(id)) return noCall
    const call = this.#begin(id, message.bytes)
    const refusal = this.#refuse(message)
    if (typeof name !== 'string' || refusal !== undefined) {
      this.#answer({ call, thrown: refusal })
      return noCall
    }
    this.#callsLeft -= 1
    const { value, truncated } = yield* decodeSteps(args, message)
    if (truncated) this.#answer({ call, thrown: new FunctionError('RangeError', tooMuch(name)) })
    const invoke = () => this.#invoke(call, name, value as unknown[])
    return { isEntitled: true, invoke: truncated ? noCall.invoke : invoke }
  }

  /** Answers a call whose message was too expensive to parse completely. */
  refuse(id: number, message: string): void {
    if (this.#run.signal.aborted) return
    this.#answer({ call: this.#begin(id, 0), thrown: new FunctionError('RangeError', message) })
  }

  /** The run has ended: signals abort, and later results are ignored. */
  end(): void {
    if (this.#run.signal.aborted) return
    // A later piece of code on the same stream may have taken over.
    if (this.#writer.onDrain === this.#onDrain) this.#writer.onDrain = () => undefined
    for (const call of this.#open) call.close()
    this.#open.clear()
    this.#openBytes = 0
    this.#answers.length = 0
    this.#run.abort(new DOMException('The run has ended.', 'AbortError'))
    this.onRoom()
  }

  #begin(id: number, bytes: number): OpenCall {
    const call = new OpenCall(id, bytes, this.#run.signal)
    this.#open.add(call)
    this.#openBytes += bytes
    return call
  }

  #refuse({ fields, fits }: Message): FunctionError | undefined {
    const { name, args } = fields
    const { resultBytes, functionCallsMax } = this.#parts.limits
    if (typeof name !== 'string' || !this.#functions.has(name))
      return new FunctionError('ReferenceError', 'The host has no function of this name.')
    if (!Array.isArray(args)) return new FunctionError('TypeError', 'The arguments are not a list.')
    if (!fits('args', resultBytes)) {
      return new FunctionError(
        'RangeError',
        `The arguments of '${name}' take more than ${resultBytes} bytes, or are nested too deeply.`,
      )
    }
    if (this.#callsLeft > 0) return undefined
    return new FunctionError(
      'FunctionLimitError',
      `A run may call host functions ${functionCallsMax} times (functionCallsMax).`,
    )
  }

  #invoke(call: OpenCall, name: string, args: readonly unknown[]): void {
    // The run may have ended while the arguments were decoded.
    if (this.#run.signal.aborted) return
    const { clock, limits } = this.#parts
    const { functionMs } = limits
    if (functionMs !== null) {
      const message = `'${name}' took longer than ${functionMs} ms (functionMs).`
      call.limit((expire) =>
        clock.after(functionMs, () => {
          this.#answer({ call, thrown: new FunctionError('TimeoutError', message) })
          expire(new DOMException(message, 'TimeoutError'))
        }),
      )
    }
    const fail = (thrown: unknown) => this.#answer({ call, thrown })
    try {
      const result = this.#functions.get(name)?.apply(call, [...args])
      if (typeof result !== 'object' && typeof result !== 'function')
        this.#answer({ call, name, value: result })
      else Promise.resolve(result).then((value) => this.#answer({ call, name, value }), fail)
    } catch (thrown) {
      fail(thrown)
    }
  }

  /** Takes one answer for each call and drops later ones. */
  #answer(answer: Answer): void {
    if (this.#run.signal.aborted || !answer.call.close()) return
    this.#answers.push(answer)
    this.#sendAnswers()
  }

  /**
   * Sends answers as fast as the guest reads them: each is encoded only after the previous one has been sent.
   */
  #sendAnswers(): void {
    const { budget } = this.#parts
    while (!this.#isAnswering && this.#writer.isOpen && !this.#writer.isFull && !loopTurns.isOver) {
      const answer = this.#answers.shift()
      if (answer === undefined) break
      this.#isAnswering = true
      let isLater = false
      budget.perform(this.#write(answer), (pieces) => {
        this.#isAnswering = false
        this.#send(answer.call, pieces)
        if (isLater) this.#sendAnswers()
      })
      isLater = true
    }
    if (this.#isAnswering) return
    if (this.#answers.length > 0 && loopTurns.isOver) loopTurns.wait(() => this.#sendAnswers())
    if (!this.#hasRoomAgain) return
    this.#hasRoomAgain = false
    this.onRoom()
  }

  #send(call: OpenCall, pieces: readonly Buffer[]): void {
    if (this.#run.signal.aborted) return
    for (const piece of pieces) this.#writer.write(piece)
    const wasFull = this.isFull
    if (this.#open.delete(call)) this.#openBytes -= call.bytes
    if (wasFull && !this.isFull) this.#hasRoomAgain = true
  }

  /** The values come from the caller. If reading one throws, as a proxy may, the answer is an error. */
  *#write(answer: Answer): Steps<readonly Buffer[]> {
    try {
      const texts = yield* this.#encode(answer)
      yield
      return yield* frameLongMessage(texts)
    } catch {
      const unreadable = new FunctionError('Error', 'The result of the function cannot be read.')
      return [frameMessage(writeThrow(answer.call.id, unreadable))]
    }
  }

  *#encode(answer: Answer): Steps<readonly string[]> {
    const { id } = answer.call
    if ('thrown' in answer) return [writeThrow(id, answer.thrown)]
    const { inputBytes } = this.#parts.limits
    const { json, truncated } = yield* encodeSteps(answer.value, {
      maxBytes: inputBytes,
      objectsMax: answerObjectsMax,
    })
    yield
    const lost = truncated ? undefined : describeUnsendable(answer.name, json)
    if (truncated) {
      const message = `What '${answer.name}' returned takes more than ${inputBytes} bytes, holds more than ${answerObjectsMax} objects, or is nested too deeply.`
      return [writeThrow(id, new FunctionError('RangeError', message))]
    }
    if (lost !== undefined) return [writeThrow(id, new FunctionError('TypeError', lost))]
    return [`{"type":"return","id":${id},"value":`, json, '}']
  }
}

function tooMuch(name: string): string {
  return `The arguments of '${name}' are nested too deeply.`
}

function isId(id: unknown): id is number {
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0
}
