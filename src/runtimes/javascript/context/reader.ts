/**
 * The thread of a code context that reads the private descriptor. The thread of the guest's code cannot: it may compute
 * without end. So an interruption is read here, and V8 gets the order to terminate that thread's execution.
 */
import { Session } from 'node:inspector'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { ReaderData } from './protocol.ts'
import { channelDescriptor } from '../../channel/channel-protocol.ts'

const { port, running } = workerData as ReaderData & { readonly port: MessagePort }

const tellAgainMs = 20
const tellingsMax = 10
const headerBytes = 4
let pieces: Buffer[] = []
let waitingBytes = 0
let wantedBytes = headerBytes
let isBody = false

const socket = new Socket({ fd: channelDescriptor, writable: false })
socket.on('data', (bytes: Buffer) => {
  pieces.push(bytes)
  waitingBytes += bytes.length
  while (waitingBytes >= wantedBytes) takeNext()
})
socket.on('close', () => port.postMessage(null))
socket.on('error', () => undefined)

/** A header, or the message that it has announced. */
function takeNext(): void {
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
  const taken = bytes.subarray(0, wantedBytes)
  const rest = bytes.subarray(wantedBytes)
  pieces = [rest]
  waitingBytes = rest.length
  if (isBody) tell(taken.toString('utf8'))
  wantedBytes = isBody ? headerBytes : taken.readUInt32LE(0)
  isBody = !isBody
}

function tell(json: string): void {
  if (json.startsWith('{"interrupt":'))
    interrupt((JSON.parse(json) as { readonly interrupt: number }).interrupt)
  else port.postMessage(json)
}

/**
 * Interrupts only the code that is still running, and not the code that follows. A session that stays connected would
 * make Node wait for it when the process exits.
 */
function interrupt(entry: number): void {
  if (Atomics.load(running, 0) !== entry) return
  const session = new Session()
  session.connectToMainThread()
  // V8 calls back when it has ended what ran, or found that nothing did.
  session.post('Runtime.terminateExecution', () => {
    session.disconnect()
    tellInterrupted(entry, tellingsMax)
  })
}

/** More than once: the execution that gets terminated may be the very code that reports this. */
function tellInterrupted(entry: number, tellingsLeft: number): void {
  port.postMessage(`{"interrupted":${entry}}`)
  if (tellingsLeft === 0) return
  setTimeout(() => {
    if (Atomics.load(running, 0) === entry) tellInterrupted(entry, tellingsLeft - 1)
  }, tellAgainMs)
}
