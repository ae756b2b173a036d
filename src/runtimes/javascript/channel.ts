/**
 * The guest's end of the private descriptor: one request in, messages out. Frames are built only with built-ins that were
 * captured at start, so a guest that patches `JSON` cannot keep the harness from answering.
 */
import { bytesLength, jsonString, stringSlice, utf8 } from '../../core/primordials.ts'
import type { GuestError } from '../../core/outcome.ts'
import type { LogEntry } from '../../core/output.ts'
import { channelDescriptor, type GuestRequest, type ParkRequest } from '../channel/channel-protocol.ts'
import { readAll, writeAll } from './console/output.ts'

/** Longest text of a log message or of a value as the REPL prints it. */
export const textBytesMax = 64 * 1024
// A frame starts with its length: these four characters are overwritten with it.
const headerPlaceholder = '\0\0\0\0'
const headerBytes = 4
const decoder = new TextDecoder()

/** Waits for the request. `undefined` if the host closes the channel first. */
export function readRequest(): GuestRequest | ParkRequest | undefined {
  const header = new Uint8Array(headerBytes)
  if (!readAll(channelDescriptor, header)) return undefined
  const body = new Uint8Array(new DataView(header.buffer).getUint32(0, true))
  if (!readAll(channelDescriptor, body)) return undefined
  return JSON.parse(decoder.decode(body)) as GuestRequest | ParkRequest
}

export function sendLog(level: LogEntry['level'], text: string): void {
  send(`{"type":"log","level":"${level}","text":${jsonString(boundText(text))}}`)
}

/** `json` is the value in the tagged encoding. */
export function sendValue(json: string, text: string, isTruncated: boolean): void {
  send(valueMessage(json, text, isTruncated))
}

export function valueMessage(json: string, text: string, isTruncated: boolean): string {
  const head = `{"type":"value","truncated":${isTruncated ? 'true' : 'false'}`
  return `${head},"text":${jsonString(boundText(text))},"value":${json}}`
}

export function sendError(phase: 'syntax' | 'run', error: GuestError): void {
  const { name, message, stack, line, column } = error
  let json = `{"name":${jsonString(boundText(name))},"message":${jsonString(boundText(message))}`
  if (stack !== undefined) json += `,"stack":${jsonString(boundText(stack))}`
  if (line !== undefined) json += `,"line":${line}`
  if (column !== undefined) json += `,"column":${column}`
  send(`{"type":"error","phase":"${phase}","error":${json}}}`)
}

/** The last message: all output is written, and no code of the program will run. */
export function sendEnd(exitCode: number): void {
  send(`{"type":"end","exitCode":${exitCode & 0xff}}`)
}

/** At most 64 KiB of UTF-8, cut between characters. */
export function boundText(text: string): string {
  // No character takes more than three bytes for each of its UTF-16 units.
  if (text.length * 3 <= textBytesMax) return text
  let bound = stringSlice(text, 0, textBytesMax)
  for (;;) {
    const excess = bytesLength(utf8(bound)) - textBytesMax
    if (excess <= 0) return bound
    bound = stringSlice(bound, 0, -((excess + 2) / 3))
  }
}

/** Returns the number of bytes of the message. */
export function send(json: string): number {
  const bytes = frame(json)
  writeAll(channelDescriptor, bytes)
  return bytesLength(bytes) - headerBytes
}

export function frame(json: string): Uint8Array {
  const bytes = utf8(headerPlaceholder + json)
  const length = bytesLength(bytes) - headerBytes
  for (let index = 0; index < headerBytes; index++) bytes[index] = (length >>> (8 * index)) & 0xff
  return bytes
}
