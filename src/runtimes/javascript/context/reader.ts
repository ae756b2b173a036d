/**
 * The thread of a code context that reads the private descriptor. The main thread, which runs the guest's code, may be in
 * an endless loop. So this thread reads interruptions and makes V8 terminate the main thread's execution.
 */
import { Session } from 'node:inspector'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { ReaderData } from './protocol.ts'
import { channelDescriptor } from '../../channel/channel-protocol.ts'

const { port, running } = workerData as ReaderData & { readonly port: MessagePort }

const repeatMs = 20
const repeatsMax = 10
const headerBytes = 4
let pieces: Buffer[] = []
let bufferedBytes = 0
let wantedBytes = headerBytes
let isBody = false

const socket = new Socket({ fd: channelDescriptor, writable: false })
socket.on('data', (bytes: Buffer) => {
  pieces.push(bytes)
  bufferedBytes += bytes.length
  while (bufferedBytes >= wantedBytes) takeNext()
})
socket.on('close', () => port.postMessage(null))
socket.on('error', () => undefined)

/** Takes a header, or the message that follows it. */
function takeNext(): void {
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
  const taken = bytes.subarray(0, wantedBytes)
  const rest = bytes.subarray(wantedBytes)
  pieces = [rest]
  bufferedBytes = rest.length
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
 * Interrupts the entry only if it is still running, and never the next one. The session is closed afterwards, because Node
 * would wait for an open one when the process exits.
 */
function interrupt(entry: number): void {
  if (Atomics.load(running, 0) !== entry) return
  const session = new Session()
  session.connectToMainThread()
  // V8 calls back when it has terminated the execution, or found that nothing was running.
  session.post('Runtime.terminateExecution', () => {
    session.disconnect()
    tellInterrupted(entry, repeatsMax)
  })
}

/** Repeats the message until the entry has ended: V8 may also terminate the code that handles the message. */
function tellInterrupted(entry: number, repeatsLeft: number): void {
  port.postMessage(`{"interrupted":${entry}}`)
  if (repeatsLeft === 0) return
  setTimeout(() => {
    if (Atomics.load(running, 0) === entry) tellInterrupted(entry, repeatsLeft - 1)
  }, repeatMs)
}
