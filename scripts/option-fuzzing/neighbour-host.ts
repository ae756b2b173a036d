/** A second host process with its own Lazaret. It reports its runs' complaints to its parent. */
import { createLazaret } from '../../src/index.ts'
import { tryOnce } from './neighbour.ts'

const everyMs = 250
const lazaret = createLazaret()
// A terminal's SIGINT reaches every process; this one ends when its parent disconnects.
process.on('SIGINT', () => undefined)

while (process.connected) {
  const complaint = await tryOnce(lazaret)
  // Its parent may disconnect at this moment.
  if (process.connected) process.send?.({ complaint }, () => undefined)
  await new Promise((resolve) => setTimeout(resolve, everyMs))
}
await lazaret[Symbol.asyncDispose]()
