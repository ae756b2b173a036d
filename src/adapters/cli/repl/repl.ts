/** One session: a sandbox with one code context, which runs what a person types, or what is piped in. */
import { exitCodeOf } from '../../../core/outcome.ts'
import type { ContextLanguage } from '../../../core/work.ts'
import { createLazaret } from '../../../engine/lazaret.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import type { CodeContext } from '../../../sandbox/contexts/context-types.ts'
import type { CommandContext } from '../commands/command-context.ts'
import { allowAsked } from '../options/allow-asked.ts'
import { readStandardInput } from '../options/bounded-read.ts'
import type { GuestSupplies } from '../options/request-from-flags.ts'
import { toSingleLine } from '../output/terminal-text.ts'
import { HistoryFile } from './history-file.ts'
import { ReplOutput } from './repl-output.ts'
import { TypedLines } from './typed-lines.ts'
import { isUnfinished } from './unfinished-code.ts'

export interface ReplOptions extends Pick<CommandContext, 'signal' | 'warn'> {
  readonly engineOptions: LazaretOptions
  readonly language: ContextLanguage
  readonly supplies: Pick<GuestSupplies, 'files' | 'network'>
  readonly memoryBytes: number | undefined
  /** For each piece of code; null for no limit. */
  readonly timeoutMs: number | null
  readonly keepsHistory: boolean
}

const codeBytesMax = 1024 * 1024
const prompts: Readonly<Record<ContextLanguage, readonly [string, string]>> = {
  python: ['>>> ', '... '],
  javascript: ['> ', '... '],
  typescript: ['> ', '... '],
}
const help = `.help       this text
.restart    start over, without variables
.exit       end, like Ctrl-D
Ctrl-C interrupts code that runs and keeps the variables; at a prompt it discards what was typed.
Tab completes names. A line that begins with a space is not kept in the history.
`

/** Returns the exit code: that of the code if it was piped in, else 0. */
export async function startRepl(options: ReplOptions): Promise<number> {
  const { engineOptions, supplies, language, memoryBytes, signal } = options
  const { files, network = 'none' } = supplies
  await using lazaret = createLazaret({ ...allowAsked(engineOptions, network), onEvent: () => undefined })
  await using sandbox = await lazaret.sandbox({ files, network, protectedPorts: [] })
  const limits = memoryBytes === undefined ? {} : { limits: { memoryBytes } }
  const context = await sandbox.createCodeContext({ language, ...limits })
  if (!process.stdin.isTTY || !process.stdout.isTTY) return await runPiped(context, options)
  const exitCode = await new Repl(context, options).run()
  signal.throwIfAborted()
  return exitCode
}

async function runPiped(context: CodeContext, { signal, timeoutMs: timeout }: ReplOptions): Promise<number> {
  const code = (await readStandardInput({ bytesMax: codeBytesMax, signal })).toString('utf8')
  const output = new ReplOutput()
  const result = await context.runCode(code, { timeout, signal, ...output.callbacks })
  output.tellEnd(result)
  if (result.outcome.kind === 'cancelled') signal.throwIfAborted()
  return exitCodeOf(result.outcome)
}

/** Python itself advises `exit()`, which ends only the piece of code here. */
function isLeaving(code: string, language: ContextLanguage): boolean {
  const word = code.trim()
  return word === '.exit' || (language === 'python' && /^(?:exit|quit)\(\)$/.test(word))
}

class Repl {
  readonly #context: CodeContext
  readonly #options: ReplOptions
  readonly #output = new ReplOutput()
  readonly #lines: TypedLines
  readonly #history: HistoryFile | undefined
  #typedBefore = ''
  #hasWarned = false

  constructor(context: CodeContext, options: ReplOptions) {
    this.#context = context
    this.#options = options
    this.#history = options.keepsHistory ? new HistoryFile(options.language) : undefined
    this.#lines = new TypedLines({
      history: this.#history?.read() ?? [],
      onHistory: (lines) => this.#keep(lines),
      complete: (line) => this.#complete(line),
      onInterrupt: () => void context.interrupt().catch(() => undefined),
    })
  }

  async run(): Promise<number> {
    using lines = this.#lines
    const { signal, language } = this.#options
    signal.addEventListener('abort', () => lines.close(), { once: true })
    process.stdout.write(`${language} in a sandbox; .help says more\n`)
    for (;;) {
      const code = await this.#readCode()
      if (code === null || isLeaving(code, language)) break
      await this.#perform(code)
      if (signal.aborted) break
    }
    process.stdout.write('\n')
    return 0
  }

  /** Null at the end of the input. */
  async #readCode(): Promise<string | null> {
    const { language } = this.#options
    const [first, next] = prompts[language]
    let code = ''
    for (let prompt = first; ; prompt = next) {
      this.#typedBefore = code
      const typed = await this.#lines.next(prompt, 'code')
      if (typed.kind === 'end') return null
      if (typed.kind === 'forget') return ''
      code += prompt === first ? typed.line : `\n${typed.line}`
      if (!isUnfinished(code, language)) return code
    }
  }

  async #perform(code: string): Promise<void> {
    const word = code.trim()
    if (word === '') return
    if (word === '.help') process.stdout.write(help)
    else if (word === '.restart') await this.#context.restart()
    else await this.#run(code)
  }

  async #run(code: string): Promise<void> {
    const { signal, timeoutMs: timeout } = this.#options
    const output = this.#output
    const onInput = async (prompt: string) => {
      output.finishLine()
      const asked = `${toSingleLine(prompt)}${prompt.endsWith(' ') ? ' ' : ''}`
      const typed = await this.#lines.next(asked, 'answer')
      if (typed.kind === 'line') return typed.line
      if (typed.kind === 'forget') await this.#context.interrupt()
      return ''
    }
    try {
      output.tellEnd(await this.#context.runCode(code, { timeout, signal, onInput, ...output.callbacks }))
    } catch (error) {
      // A refusal by Lazaret, such as code that is too long: the session continues.
      output.tell(toSingleLine(error instanceof Error ? error.message : String(error)))
    }
  }

  /** Matches are guest text: only identifiers are shown, which contain nothing that a terminal obeys. */
  async #complete(line: string): Promise<[string[], string]> {
    if (line.trim() === '') return [[`${line}    `], line]
    const typed = /[\p{ID_Continue}$]*$/u.exec(line)?.[0] ?? ''
    const matches = await this.#context.complete(`${this.#typedBefore}\n${line}`)
    const isName = (match: string) => match.startsWith(typed) && /^[\p{ID_Continue}$]+$/u.test(match)
    return [matches.filter(isName), typed]
  }

  /** If it cannot be kept, the user is told once. */
  #keep(lines: readonly string[]): void {
    try {
      this.#history?.write(lines)
    } catch (error) {
      if (this.#hasWarned) return
      this.#hasWarned = true
      this.#options.warn(`the history is not kept: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
