/**
 * Runs real commands under a real filter: compiles the loader once, writes filters, and removes everything at the end.
 */
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Architecture } from '../../../src/jail/seccomp/architectures.ts'
import type { SeccompOptions } from '../../../src/jail/seccomp/policy.ts'
import { seccompProgram } from '../../../src/jail/seccomp/program.ts'

// A command that hangs under the filter is killed, so that the test fails instead of waiting for ever.
const commandMsMax = 120_000

export const architecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

export interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** Why filters cannot be tested on this machine, or false if they can. */
export function reasonToSkip(): string | false {
  if (process.platform !== 'linux') return 'seccomp is part of Linux'
  if (process.arch !== 'x64' && process.arch !== 'arm64') return `there is no policy for ${process.arch}`
  return hasCommand('cc') ? false : 'cc is not installed, and the loader is written in C'
}

export function hasCommand(name: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$1"', 'sh', name], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export class FilteredCommands implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'lazaret-seccomp-'))
  readonly #loader = this.compile('apply-filter')
  #count = 0

  /** Builds a C program of the fixtures folder. */
  compile(name: string): string {
    const source = fileURLToPath(new URL(`fixtures/${name}.c`, import.meta.url))
    const program = join(this.#folder, name)
    execFileSync('cc', ['-O1', '-Wall', '-Wextra', '-Werror', '-o', program, source], { stdio: 'inherit' })
    return program
  }

  /** An empty folder for a command to work in. */
  makeFolder(): string {
    const folder = join(this.#folder, `work-${this.#count++}`)
    mkdirSync(folder)
    return folder
  }

  run(options: Omit<SeccompOptions, 'architecture'>, command: readonly string[]): Promise<Ended> {
    const filter = join(this.#folder, `filter-${this.#count++}`)
    writeFileSync(filter, seccompProgram({ architecture, ...options }))
    return this.runUnfiltered([this.#loader, filter, ...command])
  }

  runUnfiltered([file = '', ...args]: readonly string[]): Promise<Ended> {
    const cwd = this.makeFolder()
    // A separate HOME, so that no setting of the developer affects the test.
    const env = { ...process.env, HOME: cwd, TMPDIR: cwd, NODE_OPTIONS: '', GIT_CONFIG_NOSYSTEM: '1' }
    return new Promise((resolve) => {
      const child = execFile(file, args, { cwd, env, timeout: commandMsMax }, (_error, stdout, stderr) => {
        resolve({ exitCode: child.exitCode, signal: child.signalCode, stdout, stderr })
      })
    })
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
