/** The actor protocol on a Lazaret: the actor's own, or a shared one. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { RunRequest } from '../../core/request.ts'
import type { Lazaret } from '../../engine/api.ts'
import { createLazaret } from '../../engine/lazaret.ts'
import type { LazaretOptions } from '../../engine/options/options.ts'
import { readInput } from '../../policy/hostile-input.ts'
import { CodeExecutionActor } from './code-execution-actor.ts'

/** Options of the Lazaret that the actor creates, or the Lazaret to use. */
export type CodeExecutionActorOptions = LazaretOptions & {
  /** A shared Lazaret, which the actor does not dispose. Of the other options, only `ceilings.wallMs` then has an effect. */
  readonly lazaret?: Lazaret
}

const defaultTimeoutMsUsual = 5000
/** The longest timeout of a message without `ceilings.wallMs`: five minutes. */
const timeoutMsMaxUsual = 300_000

/** How the code of a message runs. */
type RuntimeChoice = Pick<RunRequest, 'runtime' | 'realm'>

export class LazaretActor extends CodeExecutionActor implements AsyncDisposable {
  /** The router that was passed in; answers go to the caller of `receive`. */
  readonly router: object
  readonly #lazaret: Lazaret
  readonly #isOwn: boolean
  readonly #choice: RuntimeChoice

  protected constructor(choice: RuntimeChoice, router: object, { defaultTimeoutMs, given }: Given) {
    const { lazaret, options, timeoutMsMax } = parseActorOptions(given)
    const usual = Math.min(defaultTimeoutMsUsual, timeoutMsMax)
    super(
      { defaultTimeoutMs: defaultTimeoutMs === undefined ? usual : defaultTimeoutMs, timeoutMsMax },
      ({ code, language, timeoutMs }) =>
        this.#lazaret.run({
          code,
          language,
          ...choice,
          limits: { wallMs: Math.ceil(timeoutMs) },
        }),
    )
    this.#choice = choice
    this.router = router
    this.#lazaret = lazaret ?? createLazaret(options)
    this.#isOwn = lazaret === undefined
  }

  /** Resolves when this many workers are parked. Without this call, parking begins with the second message. */
  async warmUp(count = 1): Promise<void> {
    await this.#lazaret.warmUp({ language: 'javascript', ...this.#choice, count })
  }

  /** Ends the actor's runs, unless the Lazaret is shared, and resolves when all of them have ended. */
  async dispose(): Promise<void> {
    if (this.#isOwn) await this.#lazaret[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose()
  }
}

interface Given {
  readonly defaultTimeoutMs: number | undefined
  readonly given: CodeExecutionActorOptions
}

interface ParsedActorOptions {
  readonly lazaret: Lazaret | undefined
  readonly options: LazaretOptions
  readonly timeoutMsMax: number
}

/** `createLazaret()` checks the other options. */
function parseActorOptions(given: CodeExecutionActorOptions): ParsedActorOptions {
  return readInput(() => {
    const { lazaret, ...options } = given
    if (lazaret !== undefined && typeof (lazaret as Lazaret | null)?.run !== 'function')
      throw new LazaretError('INVALID_REQUEST', { detail: 'lazaret: must be what createLazaret() returned.' })
    const wallMs: unknown = options.ceilings?.wallMs
    return { lazaret, options, timeoutMsMax: typeof wallMs === 'number' ? wallMs : timeoutMsMaxUsual }
  })
}
