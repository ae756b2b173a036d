/** Commands with credentials: each in its own space, which no other command uses, and which ends with it. */
import { Command } from './commands/command.ts'
import type { CommandEnd } from './commands/command-end.ts'
import type { SessionCommand } from './sessions/session.ts'
import { bootstrap, frameScript, secureScript, startFolder } from './sessions/shell-text.ts'
import type { Spaces } from './spaces.ts'

export interface SecureCommand extends SessionCommand {
  readonly variables: Readonly<Record<string, string>>
  /** Bytes, one character for each. */
  readonly folder: string
  readonly home: 'workspace' | undefined
}

export async function runSecurely(spaces: Spaces, secure: SecureCommand): Promise<CommandEnd> {
  const { clock, limits, shell } = spaces.parts
  const { command, folder, stdin, variables, home, ...wishes } = secure
  const space = await spaces.takeSecure()
  try {
    const { workspace } = spaces
    const process = new Command({
      space,
      clock,
      limits,
      spec: {
        ...spaces.commonSpec(space),
        file: shell,
        argv: ['bash', '-c', bootstrap, 'bash'],
        env: {
          ...spaces.programVariables,
          HOME: home === 'workspace' ? workspace : spaces.home,
          LANG: 'C.UTF-8',
          TZ: 'UTC',
          TERM: 'dumb',
          ...variables,
        },
        folder: startFolder,
        stdin: 'later',
      },
    })
    process.begin(wishes)
    void process.write(
      frameScript(secureScript({ command, folder, variables, hasStdin: stdin !== undefined })),
    )
    if (stdin !== undefined) void process.write(Buffer.from(stdin as string))
    process.endStdin()
    return await process.ended
  } finally {
    // Everything that it left behind ends with its space; the caller does not wait for that.
    void space
      .clean()
      .catch(() => undefined)
      .then(() => spaces.prepareSecure())
  }
}
