/** What a section of the benchmark answers: rows of figures, what may be said about them, and the goals. */

/** Figures by column; a column is named with its unit unless the table names one. */
export type Figures = Readonly<Record<string, number>>

export interface Verdict {
  /** Ours divided by the rival's; null where that means nothing, as below 0. */
  readonly ratio: number | null
  /** Null when the spread is larger than the difference, or when others kept the machine busy. */
  readonly winner: 'lazaret' | 'rival' | null
  /** Why there is no winner. */
  readonly reason?: string
}

export interface Row {
  readonly name: string
  readonly figures: Figures
  /** Of a rival: how ours compares with it. */
  readonly verdict?: Verdict
}

export interface Goal {
  readonly text: string
  readonly measured: number
  readonly isMet: boolean
}

export interface Table {
  readonly title: string
  /** Of every column that does not carry a unit of its own. */
  readonly unit: string
  /** The machine's load over one minute at the end of the measurement. */
  readonly load: number
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
  readonly notes: readonly string[]
  /** Refusals and wrong outcomes, the first few in words: any of them fails the benchmark. */
  readonly wrong: readonly string[]
}

/** A table that this machine or this version cannot fill, and why. */
export function skippedTable(title: string, reason: string): Table {
  return { title, unit: '', load: 0, rows: [], goals: [], notes: [`Skipped: ${reason}`], wrong: [] }
}

/** Of a section that could not go on. */
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
