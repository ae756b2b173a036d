/** Runs installers in a sandbox, forwards their output, and turns their failures into one error. */
import { LazaretError } from '../core/errors/errors.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Variables } from '../sandbox/types.ts'
import type { CreateOptions, EnvironmentProgress } from './environment.ts'
import { environmentFailed } from './failed.ts'

const lastLinesMax = 12
const lastCharsMax = 2000
/** Large packages take minutes to build. A build that hangs is ended. */
const stepMsMax = 30 * 60_000

export interface InstallStep {
  readonly step: EnvironmentProgress['step']
  readonly command: string
  readonly variables?: Variables
  /** What to do if an offline build does not find a package. */
  readonly offlineHint?: string | undefined
}

export interface InstallerOptions extends CreateOptions {
  /** Bound on what is taken out. */
  readonly bytesMax: number
}

export class Installer {
  readonly sandbox: Sandbox
  readonly #options: InstallerOptions

  constructor(sandbox: Sandbox, options: InstallerOptions) {
    this.sandbox = sandbox
    this.#options = options
  }

  /** Throws ENVIRONMENT_FAILED, with the last lines, if the command fails. */
  async run({ step, command, variables = {}, offlineHint }: InstallStep): Promise<void> {
    const { signal, onProgress } = this.#options
    signal?.throwIfAborted()
    onProgress?.({ step })
    const lines = new LastLines((line) => onProgress?.({ step, line }))
    const { success, outcome } = await this.sandbox.exec(command, {
      variables,
      timeout: stepMsMax,
      ...(signal === undefined ? {} : { signal }),
      onOutput: ({ text }) => lines.take(text),
    })
    signal?.throwIfAborted()
    if (success) return
    const last = lines.end()
    throw failure({ step, outcome: outcome.kind, last, hint: hintFor(last, offlineHint) })
  }

  /** Reads a text file that an installer wrote. It is guest text, so it is bounded. */
  read(path: string, bytesMax: number): Promise<string> {
    return this.sandbox.readFile(path, { bytesMax })
  }

  /** Copies a folder into a folder of the host. Throws ENVIRONMENT_FAILED if it has anything but files and folders. */
  async takeOut(path: string, to: string): Promise<void> {
    const { onProgress, signal, bytesMax } = this.#options
    onProgress?.({ step: 'take-out' })
    const { skipped } = await this.sandbox.downloadFolder(to, { path, bytesMax }).catch(explainMissing)
    signal?.throwIfAborted()
    const [first] = skipped
    if (first !== undefined)
      throw environmentFailed(
        `${skipped.length} entries are not files or folders, such as ${JSON.stringify(first.path.slice(0, 200))}.`,
        'Packages with links or special files in them cannot be used.',
      )
  }
}

/** What a package has left running may have removed it. */
function explainMissing(error: unknown): never {
  if (!(error instanceof LazaretError) || !['FILE_NOT_FOUND', 'NOT_A_FOLDER'].includes(error.code))
    throw error
  throw environmentFailed('The installer left no folder to take out.')
}

/** The last lines of an output: whole ones, or the beginning of one that is too long. */
export class LastLines {
  readonly #onLine: (line: string) => void
  #rest = ''
  readonly #last: string[] = []

  constructor(onLine: (line: string) => void = () => undefined) {
    this.#onLine = onLine
  }

  take(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n|\r/)
    this.#rest = (lines.pop() ?? '').slice(0, lastCharsMax)
    for (const line of lines) this.#add(line)
  }

  end(): string {
    this.#add(this.#rest)
    let text = this.#last.pop() ?? ''
    for (const line of this.#last.toReversed()) {
      if (line.length + 1 + text.length > lastCharsMax) break
      text = `${line}\n${text}`
    }
    return text
  }

  /** Guest text goes to terminals and logs, so control characters are replaced. */
  #add(text: string): void {
    const line = text.slice(0, lastCharsMax).replaceAll(/[^\P{C}\t]/gu, '\uFFFD')
    if (line.trim() === '') return
    this.#last.push(line)
    if (this.#last.length > lastLinesMax) this.#last.shift()
    this.#onLine(line)
  }
}

interface Failure {
  readonly step: string
  readonly outcome: string
  readonly last: string
  readonly hint: string
}

function failure({ step, outcome, last, hint }: Failure): LazaretError {
  const end = outcome === 'failed' || outcome === 'completed' ? 'the installer failed' : outcome
  return environmentFailed(`${step}: ${end}.\n${last}`, hint)
}

export function hintFor(last: string, offlineHint?: string): string {
  if (/No module named pip\b/.test(last))
    return 'Install pip for the Python that guests run on, such as python3-pip.'
  if (/THESE PACKAGES DO NOT MATCH THE HASHES|EINTEGRITY/.test(last))
    return 'A package is not what the lock says. Find out why before you make a new lock.'
  // Before the next rule: pip says "No matching distribution" as well if it reached no source.
  if (/could not resolve host|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|connection broken|network/i.test(last))
    return 'Only the package sources can be reached: check them, name more with `environments.packageHosts`, or use `offline`.'
  if (/only-binary|No matching distribution|E404|ETARGET|ENOTCACHED/.test(last))
    return offlineHint ?? 'Check name and version.'
  if (/error: command '?(?:gcc|cc|x86_64\S*)|not found: make|gyp ERR/.test(last))
    return 'A package has to be compiled: install a compiler, or use a wheel.'
  return 'The last lines of the installer say why.'
}
