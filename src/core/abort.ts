/**
 * Many listeners on one signal. For each listener that is added, Node searches all existing ones, which takes seconds
 * when ten thousand runs listen for the end of one Lazaret. Here the signal has only one listener.
 */

interface Listening {
  readonly callbacks: Set<() => void>
  readonly stop: () => void
}

const all = new WeakMap<AbortSignal, Listening>()

/** Calls back once when the signal is aborted, unless the returned function was called before. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const listening = all.get(signal) ?? listen(signal)
  // Wrapped, because the same function may be registered twice.
  const own = () => callback()
  listening.callbacks.add(own)
  return () => {
    if (listening.callbacks.delete(own) && listening.callbacks.size === 0) listening.stop()
  }
}

function listen(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>()
  const tell = () => {
    const waiting = [...callbacks]
    callbacks.clear()
    all.delete(signal)
    for (const callback of waiting) callback()
  }
  const stop = () => {
    signal.removeEventListener('abort', tell)
    all.delete(signal)
  }
  signal.addEventListener('abort', tell, { once: true })
  const listening = { callbacks, stop }
  all.set(signal, listening)
  return listening
}

/**
 * Settles as the work does, or rejects with the signal's reason as soon as it aborts. The work itself is not stopped.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined)
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(signal.reason as Error)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
