/** One command of `exec()`: in which space it runs, and what its caller learns about it. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Reservation } from '../../core/host-account.ts'
import type { LimitName } from '../../core/limits.ts'
import { describeRefusals, nameNetwork } from '../../core/network.ts'
import type { Network, NetworkReport } from '../../core/network.ts'
import { withText } from '../../result/command-text.ts'
import { tellsOfNoNetwork } from '../../result/lack-of-network.ts'
import { refuse } from '../checks.ts'
import type { CheckedExec } from '../checks.ts'
import type { CommandEnd } from './command-end.ts'
import { writeCommandReceipt } from './command-receipt.ts'
import { runSecurely } from '../secure.ts'
import type { SessionCommand } from '../sessions/session.ts'
import type { Sessions } from '../sessions/session-table.ts'
import { bytesOf } from '../sessions/shell-state.ts'
import type { Spaces } from '../spaces.ts'
import { startTerminal } from '../processes/terminal.ts'
import type { ExecResult, Isolation } from '../types.ts'

export interface ExecGround {
  readonly spaces: Spaces
  readonly sessions: Sessions
  readonly allowDegradedSecrets: boolean
  /** Limits of the sandbox that were lowered. */
  readonly clamped: readonly LimitName[]
}

export interface ExecRequest {
  readonly command: string
  readonly options: CheckedExec
  /** Runs concurrently with the commands of its session, with a copy of its state. */
  readonly isConcurrent: boolean
  /** Counts the output that is kept for its result. */
  readonly outputRoom: Reservation
}

/** Throws SESSION_GONE, SESSION_TERMINATED, SECRETS_UNPROTECTED, CELL_FAILED. */
export async function execute(ground: ExecGround, id: string, request: ExecRequest): Promise<ExecResult> {
  const { clock, network, wall, limits } = ground.spaces.parts
  const metSince = ground.spaces.watchNetwork()
  const { env, namesEnv } = request.options
  const isSecure = Object.keys(env).length > 0
  const end = await (isSecure ? inSecureSpace(ground, request) : inUserSpace(ground, request))
  const met = metSince()
  const { level } = wall.machine
  const notes = [noteOn(ground.spaces, { isSecure, namesEnv }), noteOnNetwork(network, end, met)]
  const note = notes.filter((text) => text !== undefined).join(' ')
  const isolation: Isolation = {
    space: isSecure && ground.spaces.hasSecure ? 'secure' : 'user',
    level,
    network: nameNetwork(network),
    ...(note === '' ? {} : { note }),
  }
  const { outcome, exitCode, stdout, stderr, truncated, touched, usage, evidence } = end
  const { clamped } = ground
  const facts = { level, limits, clamped, timeoutMs: timeoutOf(request.options) }
  return withText({
    id,
    success: outcome.kind === 'completed' && exitCode === 0,
    exitCode,
    stdout,
    stderr,
    command: request.command,
    duration: usage.wallMs,
    timestamp: clock.timestamp(),
    outcome,
    usage,
    truncated,
    touched,
    isolation,
    receipt: writeCommandReceipt(facts, { ...evidence, network: met }),
  })
}

function noteOn(
  { keepsSecrets, parts }: Spaces,
  { isSecure, namesEnv }: { readonly isSecure: boolean; readonly namesEnv: boolean },
): string | undefined {
  if (isSecure && !keepsSecrets)
    return 'Other processes of the sandbox could see the variables of this command.'
  if (isSecure) {
    const others = parts.shape.network === 'none' ? 'no process and no server' : 'no process'
    return `The command ran in its own space: it could see no variable of its session, and ${others} and no /tmp of other commands.`
  }
  if (namesEnv) return 'env names no value, so the command ran without credentials, in the user space.'
  return undefined
}

/** Guest text only decides whether the hint is added. */
function noteOnNetwork(
  network: Network,
  { outcome, stdout, stderr }: Pick<CommandEnd, 'outcome' | 'stdout' | 'stderr'>,
  met: NetworkReport | undefined,
): string | undefined {
  if (network === 'host' || (outcome.kind === 'completed' && outcome.exitCode === 0)) return undefined
  if (met !== undefined) return describeRefusals(met)
  if (!tellsOfNoNetwork([stderr, stdout])) return undefined
  return "The sandbox has no network (`network: 'none'`), so the command could reach no other machine."
}

function inUserSpace(
  { spaces, sessions }: ExecGround,
  { isConcurrent, ...request }: ExecRequest,
): Promise<CommandEnd> {
  const { options } = request
  const session = sessions.get(options.sessionId)
  const wishes = toWishes(request)
  if (options.tty !== undefined) return startTerminal(spaces, session, { ...wishes, size: options.tty }).ended
  return isConcurrent ? session.startConcurrent(wishes).ended : session.exec(wishes)
}

function inSecureSpace(
  { spaces, sessions, allowDegradedSecrets }: ExecGround,
  request: ExecRequest,
): Promise<CommandEnd> {
  const { options } = request
  if (!spaces.keepsSecrets && !allowDegradedSecrets) throw new LazaretError('SECRETS_UNPROTECTED')
  if (options.tty !== undefined) throw refuse('tty: a command with credentials has no terminal')
  const session = sessions.get(options.sessionId)
  return runSecurely(spaces, {
    ...toWishes(request),
    variables: { ...options.variables, ...(options.env as Readonly<Record<string, string>>) },
    folder: options.cwd === undefined ? session.folderBytes : bytesOf(options.cwd),
    home: options.home,
  })
}

export const timeoutMsDefault = 120_000

/** Null for none. */
function timeoutOf({ timeout = timeoutMsDefault }: CheckedExec): number | null {
  return timeout
}

function toWishes({ command, options, outputRoom }: Omit<ExecRequest, 'isConcurrent'>): SessionCommand {
  const { stdin, cwd, signal, onOutput, variables } = options
  const timeoutMs = timeoutOf(options) ?? undefined
  return { command, stdin, folder: cwd, timeoutMs, signal, onOutput, variables, outputRoom }
}
