/** Assigns tests to files: the events of a file arrive together, and its end last. */
import type { TestEvent } from 'node:test/reporters'
import { groupEnding } from './plan/processes.ts'
import { readProcessorTimes } from './processor-time.ts'

export interface FileResults {
  readonly file: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly durationMs: number
  /** Absent if the process was killed. */
  readonly processorMs?: number
}

type Counts = Pick<FileResults, 'passed' | 'failed' | 'skipped'>

const nothing: Counts = { passed: 0, failed: 0, skipped: 0 }

export class FileCounts {
  #counts = nothing
  #total = nothing
  readonly #processorMs = new Map<string, number>()

  /** The counts of all files, and of tests that belong to none. */
  get total(): Counts {
    return this.#total
  }

  /** The results of the file that ends with this event. */
  add(event: TestEvent): FileResults | undefined {
    if (event.type === 'test:stdout')
      for (const [file, ms] of readProcessorTimes(event.data.message))
        this.#processorMs.set(shortPath(file), ms)
    if (event.type === 'test:summary' && event.data.file !== undefined && !isGroupEnd(event))
      return this.#finish(shortPath(event.data.file), event.data.duration_ms)
    if (event.type !== 'test:pass' && event.type !== 'test:fail') return undefined
    const isEnd = isOfSharer(event) && event.data.nesting === 0
    if (isSkipped(event)) this.#count('skipped')
    else if (isFailure(event)) this.#count('failed')
    else if (event.type === 'test:pass' && event.data.details.type !== 'suite' && !isEnd)
      this.#count('passed')
    if (!isEnd) return undefined
    // node:test lets a file without any test pass.
    if (Object.values(this.#counts).every((count) => count === 0)) this.#count('failed')
    return this.#finish(event.data.name, event.data.details.duration_ms)
  }

  #count(what: keyof Counts): void {
    this.#counts = { ...this.#counts, [what]: this.#counts[what] + 1 }
    this.#total = { ...this.#total, [what]: this.#total[what] + 1 }
  }

  #finish(file: string, durationMs: number): FileResults {
    const counts = this.#counts
    this.#counts = nothing
    const processorMs = this.#processorMs.get(file)
    return {
      file,
      ...counts,
      durationMs: Math.round(durationMs),
      ...(processorMs !== undefined && { processorMs }),
    }
  }
}

type EndedTest = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>

/** In a shared process each file is a test of `shared-process.ts`, which contains the tests of the file. */
function isOfSharer({ data: { file = '' } }: EndedTest): boolean {
  return file.endsWith('/scripts/testing/shared-process.ts')
}

/** The end of a process that several files share. */
export function isGroupEnd(event: TestEvent): boolean {
  return event.type === 'test:summary' && event.data.file?.endsWith(groupEnding) === true
}

function isSkipped({ data: { skip, todo } }: EndedTest): boolean {
  return skip !== undefined || todo !== undefined
}

/** A failure of the test itself, not the consequence of one inside it. A file without any test is one too. */
export function isFailure(event: TestEvent): boolean {
  if (event.type === 'test:pass') return isFileWithoutTests(event)
  if (event.type !== 'test:fail' || event.data.todo !== undefined) return false
  const error: unknown = event.data.details.error
  return !(error instanceof Error && 'failureType' in error && error.failureType === 'subtestsFailed')
}

/** node:test lets such a file pass, as a test with the file's name. */
export function isFileWithoutTests(event: TestEvent): boolean {
  return event.type === 'test:pass' && event.data.name === shortPath(event.data.file ?? '')
}

/** Relative to the checkout, the runner's working folder. */
export function shortPath(file: string): string {
  const root = `${process.cwd()}/`
  return file.startsWith(root) ? file.slice(root.length) : file
}
