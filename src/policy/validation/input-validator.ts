/**
 * Reads programs before they run, and reports what is suspicious. It is advice, because code can always hide what it
 * does. The isolation comes from the cell.
 */
import { z } from 'zod'

import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Validation } from '../../core/validation.ts'
import { checkOptions, clockSchema } from '../policy-options.ts'
import { describeRows, findingsMax } from './findings.ts'
import { ParserThreads } from './parser-threads.ts'
import { PythonAnalysis } from './python-analysis.ts'
import type { Asking, RunsPrograms } from './python-analysis.ts'
import { validatedLanguages } from './rules.ts'
import type { ValidatedLanguage } from './rules.ts'

/** Longer code is refused. */
export const codeLengthMax = 50_000

/**
 * Modules that programs may import: their names, or the names of their packages. Relative imports are always allowed.
 */
export interface AllowedImports {
  readonly python?: readonly string[]
  /** For TypeScript too; with or without `node:`. */
  readonly javascript?: readonly string[]
}

export interface InputValidatorOptions {
  /** The Lazaret that runs Python's parser, each time in a fresh cell, on behalf of `client`. */
  readonly lazaret: { readonly run: RunsPrograms }
  /** If a language has a list, only the modules on it may be imported. Default: no lists. */
  readonly imports?: AllowedImports
  /** The clock of the threads' deadline. For tests. */
  readonly clock?: Clock
}

const modules = z.array(z.string().min(1).max(200)).max(1000).optional()
export const importsSchema = z.strictObject({ python: modules, javascript: modules })
export const lazaretSchema = z.custom<InputValidatorOptions['lazaret']>(
  (value) => typeof (value as InputValidatorOptions['lazaret'] | null)?.run === 'function',
  { error: 'must be a Lazaret, as createLazaret() returns it' },
)
const optionsSchema = z.strictObject({
  lazaret: lazaretSchema,
  imports: importsSchema.optional(),
  clock: clockSchema.optional(),
})

export class InputValidator implements AsyncDisposable {
  readonly #options: InputValidatorOptions
  readonly #threads: ParserThreads
  readonly #python: PythonAnalysis

  constructor(options: InputValidatorOptions) {
    this.#options = checkOptions(optionsSchema, options)
    this.#threads = new ParserThreads(options.clock ?? systemClock)
    this.#python = new PythonAnalysis((request) => options.lazaret.run(request))
  }

  /**
   * Does not run the code.
   *
   * @throws {LazaretError} CODE_REJECTED for more than 50,000 characters, INVALID_REQUEST for a language that it does
   * not read, and what `lazaret.run()` throws. When `signal` is aborted, its reason.
   */
  async validate(code: string, language: ValidatedLanguage, asking: Asking = {}): Promise<Validation> {
    checkInput(code, language)
    const { imports = {} } = this.#options
    if (language === 'python')
      return describeRows(await this.#python.analyze({ code, allowed: imports.python }, asking))
    const source = { code, language, allowed: imports.javascript, findingsMax }
    return describeRows(await this.#threads.analyze(source, asking))
  }

  /** Prepares everything that only the first program would have to wait for. Throws what `validate()` throws. */
  async warmUp(): Promise<void> {
    await Promise.all([this.#threads.warmUp(), this.#python.warmUp()])
  }

  /** Ends the threads. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads[Symbol.asyncDispose]()
  }
}

export function isValidated(language: unknown): language is ValidatedLanguage {
  return (validatedLanguages as readonly unknown[]).includes(language)
}

function checkInput(code: unknown, language: unknown): void {
  if (typeof code !== 'string')
    throw new LazaretError('INVALID_REQUEST', { detail: 'code: must be a string.' })
  if (!isValidated(language))
    throw new LazaretError('INVALID_REQUEST', {
      detail: `language: validation reads ${validatedLanguages.join(', ')}.`,
    })
  if (code.length > codeLengthMax)
    throw new LazaretError('CODE_REJECTED', {
      detail: `It has ${code.length} characters; validation reads at most ${codeLengthMax}.`,
      hint: 'Send less code.',
    })
}
