/** Commands on a machine that lacks a layer of the wall: the kernel itself refuses it (without/main.c). */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** See without/main.c. */
export type Lacking =
  | 'user-namespaces'
  | `user-namespaces-beyond=${number}`
  | `ids-from=${number}`
  | 'mounts'
  | 'fresh-proc'
  | 'clone3'
  | 'landlock'
  | 'landlock-scope'
  | 'cgroups'
  | 'writable-cgroups'
  | 'sys-admin'
  | 'podman:no'
  | `filter=${string}`
  | `execution=${string}`
  | `mounted=${string}`
  | `overlaid=${string}`
  | `sysctl:${string}=${number}`

export interface CommandEnd {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Compiles the program into a folder and returns its path. */
export function compileWithout(folder: string): string {
  const program = join(folder, 'without')
  const source = join(import.meta.dirname, '../without')
  const files = readdirSync(source).filter((name) => name.endsWith('.c'))
  const paths = files.map((name) => join(source, name))
  execFileSync('cc', ['-O1', '-Wall', '-Wextra', '-Werror', '-o', program, ...paths], { stdio: 'inherit' })
  return program
}

/** Owns the compiled program. */
export class WithoutLayers implements Disposable {
  /** Readable for everybody, because a command may run as another user. */
  readonly folder = mkdtempSync(join(tmpdir(), 'lazaret-without-'))
  readonly #program: string

  constructor() {
    chmodSync(this.folder, 0o755)
    this.#program = compileWithout(this.folder)
  }

  /** The arguments that start `command` without all layers of `lacking`. */
  command(lacking: readonly Lacking[], command: readonly string[]): [string, ...string[]] {
    return [this.#program, ...lacking, '--', ...command]
  }

  /** Runs a command to its end, as `userId` if it is given. */
  async run(
    lacking: readonly Lacking[],
    command: readonly string[],
    { userId, env }: { readonly userId?: number | undefined; readonly env?: Record<string, string> } = {},
  ): Promise<CommandEnd> {
    const asUser = join(import.meta.dirname, '../../../scripts/testing/as-user.ts')
    const words = this.command(lacking, command)
    const [file, ...args] =
      userId === undefined ? words : ([process.execPath, asUser, String(userId), ...words] as const)
    // The command's user may not enter the test's HOME, and a configuration that cannot be read makes a command fail.
    const home = userId === undefined ? {} : { HOME: this.folder }
    const child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...home, ...env },
    })
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ])
    return { exitCode, stdout, stderr }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
