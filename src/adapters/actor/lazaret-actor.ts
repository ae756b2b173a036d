/** The protocol of the actors on a Lazaret: its own, or one that it was given. */
import { LazaretError } from '../../core/errors.ts'
import type { RunRequest } from '../../core/request.ts'
import type { Lazaret } from '../../engine/api.ts'
import { createLazaret } from '../../engine/lazaret.ts'
import type { LazaretOptions } from '../../engine/options.ts'
import { readInput } from '../../policy/hostile-input.ts'
import { CodeExecutionActor } from './code-execution-actor.ts'

/** Options of a Lazaret that the actor makes for itself, or the one to use. */
export type CodeExecutionActorOptions = LazaretOptions & {
  /** It is not disposed with the actor; of the other options `ceilings.wallMs` alone then has a meaning. */
  readonly lazaret?: Lazaret
}

const defaultTimeoutMsUsual = 5000
/** The longest timeout of a message, where `ceilings.wallMs` does not say: five minutes. */
const timeoutMsMaxUsual = 300_000

/** By what the code of a message is run. */
type Road = Pick<RunRequest, 'runtime' | 'realm'>

export class LazaretActor extends CodeExecutionActor implements AsyncDisposable {
  /** As it was given; answers go back to whoever called `receive`. */
  readonly router: object
  readonly #lazaret: Lazaret
  readonly #isOwn: boolean
  readonly #road: Road

  protected constructor(road: Road, router: object, { defaultTimeoutMs, given }: Given) {
    const { lazaret, options, timeoutMsMax } = parseActorOptions(given)
    const usual = Math.min(defaultTimeoutMsUsual, timeoutMsMax)
    super(
      { defaultTimeoutMs: defaultTimeoutMs === undefined ? usual : defaultTimeoutMs, timeoutMsMax },
      ({ code, language, timeoutMs }) =>
        this.#lazaret.run({
          code,
          language,
          ...road,
          limits: { wallMs: Math.ceil(timeoutMs) },
        }),
    )
    this.#road = road
    this.router = router
    this.#lazaret = lazaret ?? createLazaret(options)
    this.#isOwn = lazaret === undefined
  }

  /** Resolves when so many workers wait for messages. They come by themselves from the second message on. */
  async warmUp(count = 1): Promise<void> {
    await this.#lazaret.warmUp({ language: 'javascript', ...this.#road, count })
  }

  /** Ends what still runs, unless the Lazaret is somebody else's, and resolves when nothing is left. */
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

/** What is wrong with the other options is for `createLazaret()` to say. */
function parseActorOptions(given: CodeExecutionActorOptions): ParsedActorOptions {
  return readInput(() => {
    const { lazaret, ...options } = given
    if (lazaret !== undefined && typeof (lazaret as Lazaret | null)?.run !== 'function')
      throw new LazaretError('INVALID_REQUEST', { detail: 'lazaret: must be what createLazaret() returned.' })
    const wallMs: unknown = options.ceilings?.wallMs
    return { lazaret, options, timeoutMsMax: typeof wallMs === 'number' ? wallMs : timeoutMsMaxUsual }
  })
}
