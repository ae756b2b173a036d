/**
 * Listens for the host's answers on the private descriptor. Each engine has its own kind of descriptor that wakes its
 * event loop, keeps the loop alive only on request, and never delays the end of the process.
 */
import { bytesLength, getOwnPropertyDescriptor, getPrototypeOf, uncurryThis } from '../../core/primordials.ts'
import { channelDescriptor } from '../channel/channel-protocol.ts'

const headerBytes = 4
const readBytes = 64 * 1024

export interface AnswerListener {
  readonly onAnswer: (json: string) => void
  /** Nothing more will come: the host is gone, or guest code has closed the descriptor. */
  readonly onEnd: () => void
}

/** The parts of Node's and Bun's sockets that are used here. */
interface Socket {
  ref(): unknown
  unref(): unknown
}
interface NetModule {
  readonly Socket: new (options: object) => Socket & { on(event: string, listener: () => void): unknown }
}
interface BunGlobal {
  connect(options: object): Promise<Socket>
}

const bun = Reflect.get(globalThis, 'Bun') as BunGlobal | undefined
const connect = bun?.connect.bind(bun)
// Not in Bun: there the module takes longer to load than the rest of the harness, and it does not read from descriptors.
const net = bun === undefined ? (process.getBuiltinModule('node:net') as unknown as NetModule) : undefined
// Taken now, because guest code may replace the property.
const NodeSocket = net?.Socket

const ByteView = Uint8Array
const copyInto = uncurryThis(Uint8Array.prototype.set)
const typedArray = getPrototypeOf(Uint8Array.prototype) as object
const bufferOf = uncurryThis(
  getOwnPropertyDescriptor(typedArray, 'buffer')?.get as (this: Uint8Array) => ArrayBuffer,
)
const offsetOf = uncurryThis(
  getOwnPropertyDescriptor(typedArray, 'byteOffset')?.get as (this: Uint8Array) => number,
)
const decoder = new TextDecoder()
const decode = uncurryThis(TextDecoder.prototype.decode)
const then = uncurryThis(Promise.prototype.then) as (
  promise: Promise<Socket>,
  onValue: (socket: Socket) => void,
  onError: () => void,
) => void

/** Returns a function that sets whether the event loop waits for answers. */
export function listen(listener: AnswerListener): (isWaiting: boolean) => void {
  const reader = new AnswerReader(listener.onAnswer)
  const onBytes = (bytes: Uint8Array): void => reader.take(bytes)
  let isWaiting = true
  let socket: Socket | undefined
  const apply = (): void => {
    if (isWaiting) socket?.ref()
    else socket?.unref()
  }
  if (connect === undefined) socket = openInNode(onBytes, listener.onEnd)
  else {
    const onOpen = (opened: Socket): void => {
      socket = opened
      apply()
    }
    then(openInBun(onBytes, listener.onEnd), onOpen, listener.onEnd)
  }
  return (value) => {
    if (isWaiting === value) return
    isWaiting = value
    apply()
  }
}

function openInBun(onBytes: (bytes: Uint8Array) => void, onEnd: () => void): Promise<Socket> {
  const socket = {
    data: (_socket: Socket, bytes: Uint8Array) => onBytes(bytes),
    end: onEnd,
    close: onEnd,
    error: onEnd,
  }
  return (connect as BunGlobal['connect'])({ fd: channelDescriptor, socket })
}

function openInNode(onBytes: (bytes: Uint8Array) => void, onEnd: () => void): Socket {
  const buffer = new ByteView(readBytes)
  const callback = (count: number): true => {
    onBytes(new ByteView(bufferOf(buffer), 0, count))
    return true
  }
  const Socket = NodeSocket as NetModule['Socket']
  // With `onread` the socket delivers bytes directly; reading it as a stream takes twice as long.
  const socket = new Socket({ fd: channelDescriptor, writable: false, onread: { buffer, callback } })
  socket.on('error', onEnd)
  socket.on('close', onEnd)
  return socket
}

/** Assembles messages from chunks. */
class AnswerReader {
  readonly #onAnswer: (json: string) => void
  readonly #header = new ByteView(headerBytes)
  #headerFilled = 0
  #body: Uint8Array | undefined
  #bodyFilled = 0

  constructor(onAnswer: (json: string) => void) {
    this.#onAnswer = onAnswer
  }

  take(bytes: Uint8Array): void {
    const length = bytesLength(bytes)
    let at = 0
    while (at < length) {
      if (this.#body === undefined) {
        this.#header[this.#headerFilled++] = bytes[at++] as number
        if (this.#headerFilled === headerBytes) this.#begin()
      } else at += this.#fill(this.#body, bytes, { at, length })
    }
  }

  #begin(): void {
    let length = 0
    for (let index = headerBytes - 1; index >= 0; index--)
      length = length * 256 + (this.#header[index] as number)
    this.#body = new ByteView(length)
    this.#bodyFilled = 0
  }

  #fill(
    body: Uint8Array,
    bytes: Uint8Array,
    { at, length }: { readonly at: number; readonly length: number },
  ): number {
    const missing = bytesLength(body) - this.#bodyFilled
    const count = missing < length - at ? missing : length - at
    copyInto(body, new ByteView(bufferOf(bytes), offsetOf(bytes) + at, count), this.#bodyFilled)
    this.#bodyFilled += count
    if (count === missing) {
      this.#body = undefined
      this.#headerFilled = 0
      this.#onAnswer(decode(decoder, body))
    }
    return count
  }
}
