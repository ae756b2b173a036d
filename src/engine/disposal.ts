import { setMaxListeners } from 'node:events'

/** Aborted when a Lazaret is disposed. Every run listens to it, which older Nodes take for a leak from the eleventh on. */
export function createDisposal(): AbortController {
  const disposal = new AbortController()
  setMaxListeners(0, disposal.signal)
  return disposal
}
