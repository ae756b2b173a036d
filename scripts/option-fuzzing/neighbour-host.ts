/** A second host process with a Lazaret of its own. It tells its parent what its runs had to complain of. */
import { createLazaret } from '../../src/index.ts'
import { tryOnce } from './neighbour.ts'

const everyMs = 250
const lazaret = createLazaret()
// A terminal's SIGINT reaches every process; this one ends when its parent lets go of it.
process.on('SIGINT', () => undefined)

while (process.connected) {
  const complaint = await tryOnce(lazaret)
  if (process.connected) process.send?.({ complaint })
  await new Promise((resolve) => setTimeout(resolve, everyMs))
}
await lazaret[Symbol.asyncDispose]()
