/**
 * From evidence to outcome: the only place that decides how a run ended. It uses the host's own kill, the kernel's
 * counters and the wait status. The guest's messages only describe an error; they never decide whether a limit was
 * exceeded.
 */
import type { Limits } from '../core/limits.ts'
import type { Outcome } from '../core/outcome.ts'
import type { Exit } from './exit.ts'

/** Deaths that an allocation can cause: the kernel's kill, an engine's abort, a write to memory that was refused. */
const memorySignals = new Set(['SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGTRAP', 'SIGILL'])
/** What Python and JavaScript raise when the kernel refuses memory. */
const memoryErrors = new Set(['MemoryError', 'RangeError'])
/** Close enough to the limit to have died of it: an engine gives up a little before the kernel would kill it. */
const nearLimit = 0.9

export function settle(limits: Limits, exit: Exit): Outcome {
  return byOurHand(limits, exit) ?? byTheKernel(limits, exit) ?? byItself(exit)
}

function byOurHand(limits: Limits, { killReason }: Exit): Outcome | undefined {
  switch (killReason) {
    case null:
      return undefined
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'wall':
      return { kind: 'timed-out', limit: 'wall', limitMs: limits.wallMs }
    case 'cpu':
      return { kind: 'timed-out', limit: 'cpu', limitMs: limits.cpuMs ?? 0 }
    case 'memory':
      return { kind: 'out-of-memory', limitBytes: limits.memoryBytes }
    case 'disk':
      return { kind: 'limit-exceeded', limit: 'disk', allowed: limits.diskBytes }
    case 'processes':
      return { kind: 'limit-exceeded', limit: 'processes', allowed: limits.processesMax }
    case 'files':
      return { kind: 'limit-exceeded', limit: 'files', allowed: limits.openFilesMax }
    case 'host':
      return { kind: 'limit-exceeded', limit: 'host', allowed: limits.hostMs }
    case 'output':
      return { kind: 'limit-exceeded', limit: 'output', allowed: limits.outputBytes }
  }
}

function byTheKernel(limits: Limits, exit: Exit): Outcome | undefined {
  const { end } = exit
  const failed = end === null || end.by === 'signal' || end.exitCode !== 0
  if (failed && ranOutOfMemory(limits, exit)) return { kind: 'out-of-memory', limitBytes: limits.memoryBytes }
  // Regardless of how it ended: the checks while it runs may come too late. SIGXCPU alone proves nothing, because a
  // guest can send it to itself. The count is as precise as the kernel's (microseconds or better), so there is no
  // tolerance.
  if (limits.cpuMs !== null && usedUp(limits.cpuMs, exit))
    return { kind: 'timed-out', limit: 'cpu', limitMs: limits.cpuMs }
  if (!failed) return undefined
  if (exit.forksRefused > 0 && diedOfRefusedFork(exit))
    return { kind: 'limit-exceeded', limit: 'processes', allowed: limits.processesMax }
  if (exit.diskFull) return { kind: 'limit-exceeded', limit: 'disk', allowed: limits.diskBytes }
  return undefined
}

/** A program that died of the limit is at the limit; one that ended on its own must be above it. */
function usedUp(cpuMs: number, exit: Exit): boolean {
  const isVictim = exit.end?.by === 'signal' && exit.end.signal === 'SIGXCPU'
  return isVictim ? exit.cpuMs >= cpuMs : exit.cpuMs > cpuMs
}

/** The exit code of bash when it gives up forking; other programs die of an uncaught error or a signal. */
const bashForkFailure = 254

/** A program that lived on after a refused fork and then chose its exit code did not die of it. */
function diedOfRefusedFork({ end, claims }: Exit): boolean {
  return end?.by !== 'exit' || claims.error !== undefined || end.exitCode === bashForkFailure
}

function ranOutOfMemory(
  limits: Limits,
  { end, oomKills, memoryPeakBytes, dataLimited, claims }: Exit,
): boolean {
  if (oomKills > 0) return true
  // A cgroup counts its kills exactly. Without one an allocation may have failed before the watchdog measured: then the
  // program came near the limit and died as programs without memory do.
  if (!dataLimited || memoryPeakBytes < limits.memoryBytes * nearLimit) return false
  if (end?.by === 'signal') return memorySignals.has(end.signal)
  return memoryErrors.has(claims.error?.error.name ?? '')
}

function byItself({ end, claims, denied }: Exit): Outcome {
  if (denied !== undefined) return { kind: 'denied', what: denied }
  if (end === null) return { kind: 'killed', signal: 'SIGKILL' }
  if (end.by === 'signal') return { kind: 'killed', signal: end.signal }
  if (end.exitCode !== 0 && claims.error !== undefined) {
    const { phase, error } = claims.error
    return phase === 'syntax'
      ? { kind: 'syntax-error', error }
      : { kind: 'failed', error, exitCode: end.exitCode }
  }
  return { kind: 'completed', exitCode: end.exitCode }
}
