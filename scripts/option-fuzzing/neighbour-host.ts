/** A second host process with its own Lazaret. It tells its parent what its runs had to complain of. */
import { createLazaret } from '../../src/index.ts'
import { tryOnce } from './neighbour.ts'

const everyMs = 250
const lazaret = createLazaret()
// A terminal's SIGINT reaches every process; this one ends when its parent lets go of it.
process.on('SIGINT', () => undefined)

while (process.connected) {
  const complaint = await tryOnce(lazaret)
  // Its parent may let go of it at this very moment.
  if (process.connected) process.send?.({ complaint }, () => undefined)
  await new Promise((resolve) => setTimeout(resolve, everyMs))
}
await lazaret[Symbol.asyncDispose]()
