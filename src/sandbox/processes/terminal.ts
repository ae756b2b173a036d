/** A command in its own terminal: the terminal is its only input and output, so its script is an argument. */
import type { TerminalSize } from '../../jail/cell/guest-process.ts'
import { refuse } from '../checks.ts'
import { Command } from '../commands/command.ts'
import type { Session, SessionCommand } from '../sessions/session.ts'
import { startFolder } from '../sessions/shell-text.ts'
import type { Spaces } from '../spaces.ts'

/** The kernel's bound on one argument, minus the text around the script. */
const scriptBytesMax = 120 * 1024

export interface TerminalCommand extends SessionCommand {
  readonly size: TerminalSize
  /** Whether it runs in the background, with a log that keeps the end of its output. */
  readonly isBackground?: boolean
}

export function startTerminal(spaces: Spaces, session: Session, command: TerminalCommand): Command {
  const { parts, user } = spaces
  const { size, stdin, isBackground = false, ...wishes } = command
  const script = session.terminalScript(command)
  if (Buffer.byteLength(script) > scriptBytesMax)
    throw refuse(`command: together with its session's state it is longer than ${scriptBytesMax} bytes`)
  const process = new Command({
    space: user,
    clock: parts.clock,
    limits: parts.limits,
    isEndless: isBackground,
    spec: {
      ...spaces.commonSpec(user),
      file: parts.shell,
      argv: ['bash', '-c', script, 'bash'],
      env: {},
      folder: startFolder,
      stdin: 'later',
      terminal: size,
    },
  })
  process.begin(wishes)
  if (stdin !== undefined) void process.write(Buffer.from(stdin as string))
  return process
}
