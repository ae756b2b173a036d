/** The result of a section of the benchmark: rows of figures, verdicts about them, and the goals. */

/** Figures by column; a column is named with its unit unless the table names one. */
export type Figures = Readonly<Record<string, number>>

export interface Verdict {
  /** Lazaret's figure divided by the rival's; null if that is meaningless, such as below 0. */
  readonly ratio: number | null
  /** Null if the spread is larger than the difference, or if others kept the machine busy. */
  readonly winner: 'lazaret' | 'rival' | null
  /** Why there is no winner. */
  readonly reason?: string
}

export interface Row {
  readonly name: string
  readonly figures: Figures
  /** For a rival: how Lazaret compares with it. */
  readonly verdict?: Verdict
}

export interface Goal {
  readonly text: string
  readonly measured: number
  readonly isMet: boolean
}

export interface Table {
  readonly title: string
  /** The unit of every column without its own. */
  readonly unit: string
  /** The machine's load over one minute at the end of the measurement. */
  readonly load: number
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
  readonly notes: readonly string[]
  /** Refusals and wrong outcomes. The first few have a text; any of them fails the benchmark. */
  readonly wrong: readonly string[]
}

/** A table that this machine or this version cannot fill, with the reason. */
export function skippedTable(title: string, reason: string): Table {
  return { title, unit: '', load: 0, rows: [], goals: [], notes: [`Skipped: ${reason}`], wrong: [] }
}

/** A section that could not continue. */
export function failedTable(title: string, error: Error): Table {
  const fault = `${error.name}: ${error.message}`
  return { title, unit: '', load: 0, rows: [], goals: [], notes: [], wrong: [fault] }
}

export function goalAtMost(text: string, measured: number, bound: number): Goal {
  return { text, measured, isMet: measured <= bound }
}

export function goalAtLeast(text: string, measured: number, bound: number): Goal {
  return { text, measured, isMet: measured >= bound }
}
