/** A message to the harness: its length in four bytes, then its JSON. */
export function frameMessage(json: string): Buffer {
  const bytes = Buffer.byteLength(json)
  const frame = Buffer.allocUnsafe(4 + bytes)
  frame.writeUInt32LE(bytes)
  frame.write(json, 4, 'utf8')
  return frame
}
