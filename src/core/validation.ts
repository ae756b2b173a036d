/** What validation says about a program before it runs. This is advice; the isolation does not depend on it. */

/**
 * `off`: nothing is validated. `warn`: the result contains the findings. `enforce`: code of level `high` is refused.
 */
export const validationModes = ['off', 'warn', 'enforce'] as const
export type ValidationMode = (typeof validationModes)[number]

export type RiskLevel = 'safe' | 'medium' | 'high'

/** One place in a program that a rule names. */
export interface Finding {
  /** A row of the table in docs/guide/agent-executor.md. */
  readonly rule: string
  /** Names what was found. The text is bounded and quotes the program. */
  readonly message: string
  /** 1-based, in the code. */
  readonly line: number
  /** 1-based, in characters. */
  readonly column: number
}

export interface Validation {
  /** Whether there are no findings. */
  readonly isSafe: boolean
  /** The highest level among the rules that found something. */
  readonly riskLevel: RiskLevel
  /** In the order of the code; at most 100, and one more for each rule that has none among those. */
  readonly findings: readonly Finding[]
}
