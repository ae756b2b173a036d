/** A launcher that waits for its plan, and how this process starts one without a nursery. */
import { spawn } from 'node:child_process'
import type { ChildProcess, IOType } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Duplex } from 'node:stream'

import { LazaretError } from '../../core/errors/errors.ts'
import { requireLauncher } from './launcher-path.ts'

export interface Launcher {
  readonly report: Duplex
  readonly control: Duplex
  /** The guest's private channel, if it was requested. */
  readonly channel: Duplex | null
  /** Resolves when its process has been reaped, or with the reason why there was none. Never rejects. */
  readonly ended: Promise<Error | undefined>
  /** Sets whether its sockets keep this process alive; at first they do. */
  hold(isHeld: boolean): void
  /** Sends SIGKILL to the launcher, never to a process that got its pid later. */
  kill(): void
}

/** Throws JAIL_UNAVAILABLE or CELL_FAILED. Blocks this thread while the kernel copies the process. */
export function spawnLauncher(hasChannel: boolean): Launcher {
  return asLauncher(spawnProgram(['ignore', 'pipe', 'ignore', 'pipe', hasChannel ? 'pipe' : 'ignore']))
}

/** A launcher that gets one of our open files in place of the guest's channel. */
export function spawnClaimant(file: number): Launcher {
  return asLauncher(spawnProgram(['ignore', 'pipe', 'ignore', 'pipe', file]))
}

function asLauncher(child: ChildProcess): Launcher {
  const [, report, , control, channel = null] = child.stdio as unknown as (Duplex | null)[]
  return {
    report: report as Duplex,
    control: control as Duplex,
    channel,
    ended: new Promise((resolve) => {
      child.once('exit', () => resolve(undefined))
      child.once('error', resolve)
    }),
    hold: (isHeld) => holdAll(isHeld, [child, report, control, channel]),
    kill: () => void child.kill('SIGKILL'),
  }
}

/** The handles that keep the event loop alive. */
type Held = { readonly destroyed?: boolean; ref(): unknown; unref(): unknown }

export function holdAll(isHeld: boolean, all: readonly unknown[]): void {
  for (const one of all as (Held | null | undefined)[]) {
    // Such a socket would wait for its next connection, with one more listener each time.
    if (one?.destroyed === true) continue
    if (isHeld) one?.ref()
    else one?.unref()
  }
}

/** Throws when the launcher's program cannot be started. */
export function spawnProgram(stdio: readonly (IOType | number)[]): ChildProcess {
  // Guests see the name in /proc/1/cmdline; the path is the host's.
  return spawnAs('cell', stdio)
}

/** Starts it with a socket to this process as descriptor 3. Throws as `spawnProgram` does. */
export function spawnRelay(): ChildProcess {
  return spawnAs('relay', ['ignore', 'ignore', 'ignore', 'pipe'])
}

/** The launcher and the relay are one program. */
function spawnAs(argv0: 'cell' | 'relay', stdio: readonly (IOType | number)[]): ChildProcess {
  requireDescriptors(stdio.filter((one) => one === 'pipe').length * 2 + ofStarting)
  let child: ChildProcess
  try {
    child = spawn(requireLauncher(), [], {
      argv0,
      stdio: [...stdio],
      env: {},
      cwd: '/',
    })
  } catch (cause) {
    if (cause instanceof LazaretError) throw cause
    throw new LazaretError('CELL_FAILED', { detail: 'The launcher could not be started.', cause })
  }
  // Without descriptors or memory, Node returns an incomplete object and reports the reason one tick later.
  child.once('error', () => undefined)
  if (child.pid === undefined) throw exhausted()
  return child
}

/**
 * Descriptors besides its sockets: the pipe on which libuv learns whether the program runs, and `/dev/null` in the
 * child.
 */
const ofStarting = 3

/** If descriptors run out during a start, Node leaks the sockets that it has already created. */
function requireDescriptors(count: number): void {
  const spare: number[] = []
  try {
    while (spare.length < count) spare.push(openSync('/dev/null', 'r'))
  } catch (cause) {
    throw exhausted(cause)
  } finally {
    for (const descriptor of spare) closeSync(descriptor)
  }
}

function exhausted(cause?: unknown): LazaretError {
  return new LazaretError('CELL_FAILED', {
    detail: 'The launcher could not be started: this process is out of descriptors, processes or memory.',
    cause,
  })
}
