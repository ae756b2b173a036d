/** Programs of clients, validated as the operator has configured: after they are admitted, and before they run. */
import type { RunRequest } from '../../core/request.ts'
import type { RunResult } from '../../core/result.ts'
import type { Validation, ValidationMode } from '../../core/validation.ts'
import type { OpenEngine } from '../../engine/lazaret.ts'
import { requireAcceptable } from '../../policy/validation/enforce.ts'
import { InputValidator, isValidated } from '../../policy/validation/input-validator.ts'
import type { Asking } from '../../policy/validation/python-analysis.ts'
import type { ValidatedLanguage } from '../../policy/validation/rules.ts'

export interface CheckedRun {
  readonly result: RunResult
  /** Absent if the program was not validated. */
  readonly validation?: Validation
}

export class CheckedPrograms implements AsyncDisposable {
  readonly #engine: OpenEngine
  readonly #mode: ValidationMode
  readonly #validator: InputValidator

  constructor(engine: OpenEngine, mode: ValidationMode) {
    this.#engine = engine
    this.#mode = mode
    this.#validator = new InputValidator({ lazaret: { run: engine.runWithin } })
  }

  /** Throws what `run()` throws, and CODE_REJECTED. */
  async run(request: RunRequest): Promise<CheckedRun> {
    const { code, language, client, signal } = request
    if (this.#mode === 'off' || !isValidated(language))
      return { result: await this.#engine.lazaret.run(request) }
    let validation: Validation | undefined
    const asking = {
      ...(client === undefined ? {} : { client }),
      ...(signal === undefined ? {} : { signal }),
    }
    const result = await this.#engine.runAfter(request, async () => {
      validation = await this.#validator.validate(code, language, asking)
      if (this.#mode === 'enforce') requireAcceptable(validation)
      return validation
    })
    return { result, ...(validation === undefined ? {} : { validation }) }
  }

  /** Whatever the mode. Throws what admission throws, and what `validate()` of the validator throws. */
  validate(code: string, language: ValidatedLanguage, asking: Asking): Promise<Validation> {
    return this.#engine.validate({ code, language, ...asking }, () =>
      this.#validator.validate(code, language, asking),
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#validator[Symbol.asyncDispose]()
  }
}
