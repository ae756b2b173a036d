/** One trivial program for each runtime, as a request to Lazaret and as a command line for rivals without isolation. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { RunRequest, CellRuntimeName } from '../src/core/request.ts'
import type { RunResult } from '../src/core/result.ts'
import { Toolchains } from '../src/runtimes/packages/toolchains.ts'

export interface Workload {
  readonly runtime: CellRuntimeName
  readonly request: RunRequest
  /** The same interpreter with the same program; null if the machine has none. */
  readonly command: readonly [string, ...string[]] | null
  /** The expected output, without the line end. */
  readonly expected: string
}

const javascript = 'let sum = 0; for (let i = 0; i < 1000; i++) sum += i; console.log(sum)'
const python = 'print(sum(range(1000)))'
const shell = 'echo 499500'
const expected = '499500'

export const toolchains = new Toolchains()

/** The folder with the scripts of the unjailed rivals. */
export class Workloads implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'lazaret-bench-'))

  bun(): Workload {
    return this.#javascript('bun', 'js', toolchains.bun())
  }

  node(): Workload {
    return this.#javascript('node', 'cjs', toolchains.node())
  }

  /** Needs a compiler: an enum is more than a type that can be removed. */
  typescript(): Workload {
    const code = `enum Unit { One = 1 }\n${javascript.replace('i++', 'i += Unit.One')}`
    const bun = toolchains.bun()
    const command = bun === null ? null : ([bun, this.write('program.ts', code)] as const)
    return { runtime: 'bun', request: { language: 'typescript', runtime: 'bun', code }, command, expected }
  }

  python(): Workload {
    const file = toolchains.python()?.path
    const command = file === undefined ? null : ([file, '-c', python] as const)
    return { runtime: 'python', request: { language: 'python', code: python }, command, expected }
  }

  shell(): Workload {
    const file = toolchains.shell()
    const command = file === null ? null : ([file, this.write('program.sh', shell)] as const)
    return { runtime: 'shell', request: { language: 'shell', code: shell }, command, expected }
  }

  all(): Workload[] {
    return [this.bun(), this.node(), this.python(), this.shell()]
  }

  write(name: string, text: string): string {
    const path = join(this.#folder, name)
    writeFileSync(path, text)
    return path
  }

  #javascript(runtime: 'bun' | 'node', extension: string, file: string | null): Workload {
    const command = file === null ? null : ([file, this.write(`program.${extension}`, javascript)] as const)
    return { runtime, request: { language: 'javascript', runtime, code: javascript }, command, expected }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true })
  }
}

/** What is wrong with a result; undefined if it is right. */
export function faultOf({ outcome, stdout }: RunResult, wanted: string): string | undefined {
  if (outcome.kind !== 'completed' || outcome.exitCode !== 0) return `ended as ${JSON.stringify(outcome)}`
  const printed = stdout.trim()
  return printed === wanted ? undefined : `printed ${JSON.stringify(printed.slice(0, 100))}`
}
