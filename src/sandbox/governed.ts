/** The work of one sandbox, as its governor sees it. */
import type { CodeWork, CommandWork, ContextWork, FileOperation } from '../core/work.ts'
import type { WorkEnd } from '../core/work-end.ts'
import { endOfProgram } from '../core/work-end.ts'
import type { Attested, Notary } from '../observe/notary.ts'
import type { Begun, Governor } from '../policy/governor.ts'
import type { CheckedExec } from './checks.ts'
import type { CodeData } from './contexts/code-result.ts'
import type { Sessions } from './sessions/session-table.ts'
import type { ExecResult } from './types.ts'

export interface GovernedParts {
  readonly governor: Governor
  /** Makes statements about commands and code, for audit log and receipts. */
  readonly notary: Notary | undefined
  /** The sandbox's id. */
  readonly id: string
  /** The client for whom it was created, if the caller named one. */
  readonly client: string | undefined
  readonly nextId: () => string
}

export class Governed {
  readonly #parts: GovernedParts

  readonly #variables = new Set<string>()

  constructor(parts: GovernedParts) {
    this.#parts = parts
  }

  /** Records the names of variables of later commands and processes. */
  noteVariables(names: readonly string[]): void {
    for (const name of names) this.#variables.add(name)
  }

  /** Admits a command; `act` gets its id. Throws what the policy throws, and what `act` throws. */
  async command(
    asked: { readonly command: string; readonly options: CheckedExec },
    sessions: Pick<Sessions, 'ownVariables'>,
    act: (id: string) => Promise<ExecResult>,
  ): Promise<ExecResult> {
    const { command, options } = asked
    const credentials = Object.keys(options.env)
    const ofSession = sessions.ownVariables(options.sessionId)
    const variables = [...new Set([...this.#variablesWith(options.variables), ...ofSession])]
    const work = { ...this.#facts('command'), command, credentials, variables }
    const { result } = await this.#attested(work, act)
    return result
  }

  async #attested<T extends Ended>(
    work: CommandWork | CodeWork,
    act: (id: string) => Promise<T>,
  ): Promise<{ readonly result: T }> {
    const { governor, notary } = this.#parts
    const attest = async (): Promise<Attested<T> | { readonly result: T }> => {
      const noted = notary?.note(work)
      const result = await act(work.id)
      return noted === undefined ? { result } : noted.attest(result)
    }
    return governor.perform(work, attest, { endOf })
  }

  /** Admits a new code context. Throws what the policy throws, and what `act` throws. */
  context<T>(
    asked: Pick<ContextWork, 'language' | 'service' | 'limits' | 'variables'>,
    act: (begun: Begun) => Promise<T>,
  ): Promise<T> {
    return this.#parts.governor.perform({ ...this.#facts('context'), ...asked }, act)
  }

  /** Admits code in a context; `act` gets its id. Throws what the policy throws, and what `act` throws. */
  async code(
    asked: Pick<CodeWork, 'context' | 'language' | 'code'>,
    act: (id: string) => Promise<CodeData>,
  ): Promise<CodeData> {
    const work = { ...this.#facts('code'), ...asked, variables: [...this.#variables] }
    const { result } = await this.#attested(work, act)
    return result
  }

  /** Admits a background command. Throws what the policy throws. */
  beginProcess(command: string, own: CheckedExec['variables']): Promise<Begun> {
    return this.#parts.governor.begin({
      ...this.#facts('process'),
      ...{ command, credentials: [], variables: this.#variablesWith(own) },
    })
  }

  /** Admits a file operation. Throws what the policy throws. */
  beginFiles(operation: FileOperation, path: string): Promise<Begun> {
    return this.#parts.governor.begin({ ...this.#facts('files'), operation, path })
  }

  /** Admits an exposed port. Throws what the policy throws. */
  beginPort(port: number, host: string): Promise<Begun> {
    return this.#parts.governor.begin({ ...this.#facts('port'), port, host })
  }

  #variablesWith(own: CheckedExec['variables']): string[] {
    return [...new Set([...this.#variables, ...Object.keys(own)])]
  }

  #facts<Kind extends string>(kind: Kind) {
    const { id: sandbox, client, nextId } = this.#parts
    return { kind, sandbox, client, id: nextId() } as const
  }
}

type Ended = Pick<ExecResult, 'outcome' | 'usage' | 'receipt'>

function endOf({ result, ...attested }: { readonly result: Ended }): WorkEnd {
  const { outcome, usage, receipt } = result
  const { start, clamped } = receipt
  return { ...endOfProgram(outcome, receipt.network), usage, start, clamped, ...attested }
}
