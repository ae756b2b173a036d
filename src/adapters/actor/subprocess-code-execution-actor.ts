/** The actor for code that nobody trusts: the protocol on the engine's `bun` runtime. */
import { LazaretError } from '../../core/errors.ts'
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

/**
 * Executes the code of each message in a Bun process of its own, in a cell of its own, with nothing but the language and
 * a console in reach; `docs/actors.md` has the protocol.
 *
 * @example
 * ```ts
 * await using actor = new SubprocessCodeExecutionActor(new MessageRouter(), 5000)
 * const { payload } = await actor.receive({ type: 'execute', payload: { code: '1 + 1' } })
 * ```
 */
export class SubprocessCodeExecutionActor extends CodeExecutionActor implements AsyncDisposable {
  /** As it was given; answers go back to whoever called `receive`. */
  readonly router: object
  readonly #lazaret: Lazaret
  readonly #isOwn: boolean

  /**
   * `defaultTimeoutMs` is 5000 unless it is given.
   *
   * @throws {LazaretError} INVALID_REQUEST for a timeout that is none, and for options that are wrong.
   */
  constructor(router: object, defaultTimeoutMs?: number, given: CodeExecutionActorOptions = {}) {
    const { lazaret, options, timeoutMsMax } = parseActorOptions(given)
    const usual = Math.min(defaultTimeoutMsUsual, timeoutMsMax)
    super(
      { defaultTimeoutMs: defaultTimeoutMs === undefined ? usual : defaultTimeoutMs, timeoutMsMax },
      ({ code, language, timeoutMs }) =>
        this.#lazaret.run({
          code,
          language,
          runtime: 'bun',
          realm: 'bare',
          limits: { wallMs: Math.ceil(timeoutMs) },
        }),
    )
    this.router = router
    this.#lazaret = lazaret ?? createLazaret(options)
    this.#isOwn = lazaret === undefined
  }

  /** Resolves when so many workers wait for messages. They come by themselves from the second message on. */
  async warmUp(count = 1): Promise<void> {
    await this.#lazaret.warmUp({ language: 'javascript', runtime: 'bun', realm: 'bare', count })
  }

  /** Ends what still runs, unless the Lazaret is somebody else's, and resolves when nothing is left. */
  async dispose(): Promise<void> {
    if (this.#isOwn) await this.#lazaret[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose()
  }
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
