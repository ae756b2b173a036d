/** One command of `exec()`: in which space it runs, and what its caller is told of it. */
import { LazaretError } from '../core/errors.ts'
import { refuse } from './checks.ts'
import type { CheckedExec } from './checks.ts'
import type { CommandEnd } from './command.ts'
import { runSecurely } from './secure.ts'
import type { SessionCommand } from './session.ts'
import type { Sessions } from './session-table.ts'
import { bytesOf } from './shell-state.ts'
import type { Spaces } from './spaces.ts'
import { startTerminal } from './terminal.ts'
import type { ExecResult, Isolation } from './types.ts'

export interface ExecGround {
  readonly spaces: Spaces
  readonly sessions: Sessions
  readonly allowDegradedSecrets: boolean
}

export interface ExecRequest {
  readonly command: string
  readonly options: CheckedExec
  /** Not among the commands of its session, but with a copy of what they have left. */
  readonly isBeside: boolean
}

/** Throws SESSION_GONE, SESSION_TERMINATED, SECRETS_UNPROTECTED, CELL_FAILED. */
export async function execute(ground: ExecGround, request: ExecRequest): Promise<ExecResult> {
  const { clock, shape, wall } = ground.spaces.parts
  const { env, namesEnv } = request.options
  const isSecure = Object.keys(env).length > 0
  const end = await (isSecure ? inSecureSpace(ground, request) : inUserSpace(ground, request))
  const note = noteOn(ground.spaces, { isSecure, namesEnv })
  const isolation: Isolation = {
    space: isSecure && ground.spaces.hasSecure ? 'secure' : 'user',
    level: wall.machine.level,
    network: shape.network,
    ...(note === undefined ? {} : { note }),
  }
  const { outcome, exitCode, stdout, stderr, truncated, durationMs } = end
  return {
    success: outcome.kind === 'completed' && exitCode === 0,
    exitCode,
    stdout,
    stderr,
    command: request.command,
    duration: durationMs,
    timestamp: clock.timestamp(),
    outcome,
    truncated,
    isolation,
  }
}

function noteOn(
  { keepsSecrets }: Spaces,
  { isSecure, namesEnv }: { readonly isSecure: boolean; readonly namesEnv: boolean },
): string | undefined {
  if (isSecure && !keepsSecrets)
    return 'Other processes of the sandbox could see the variables of this command.'
  if (namesEnv && !isSecure)
    return 'env names no value, so the command ran without credentials, in the user space.'
  return undefined
}

function inUserSpace(
  { spaces, sessions }: ExecGround,
  { command, options, isBeside }: ExecRequest,
): Promise<CommandEnd> {
  const session = sessions.get(options.sessionId)
  const wishes = toWishes(command, options)
  if (options.tty !== undefined) return startTerminal(spaces, session, { ...wishes, size: options.tty }).ended
  return isBeside ? session.startBeside(wishes).ended : session.exec(wishes)
}

function inSecureSpace(
  { spaces, sessions, allowDegradedSecrets }: ExecGround,
  { command, options }: ExecRequest,
): Promise<CommandEnd> {
  if (!spaces.keepsSecrets && !allowDegradedSecrets) throw new LazaretError('SECRETS_UNPROTECTED')
  if (options.tty !== undefined) throw refuse('tty: a command with credentials has no terminal')
  const session = sessions.get(options.sessionId)
  return runSecurely(spaces, {
    ...toWishes(command, options),
    variables: options.env as Readonly<Record<string, string>>,
    folder: options.cwd === undefined ? session.folderBytes : bytesOf(options.cwd),
    home: options.home,
  })
}

function toWishes(command: string, { stdin, cwd, timeout, signal, onOutput }: CheckedExec): SessionCommand {
  return { command, stdin, folder: cwd, timeoutMs: timeout, signal, onOutput }
}
