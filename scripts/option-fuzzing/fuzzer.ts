/**
 * Programs from the corpus, then from seeds, one run at a time, with readings. A program that moved a reading too far runs
 * again; if it does so in every repetition, it is a finding, and is then minimised.
 */
import type { Lazaret } from '../../src/index.ts'
import type { AllowedValues } from './allowed-values.ts'
import { readCorpus } from './corpus.ts'
import { generateProgram } from './generate.ts'
import type { Guest } from './guest.ts'
import { listSuspicions } from './judge.ts'
import type { Suspicion } from './judge.ts'
import { minimise } from './minimise.ts'
import { observe, runGuest } from './observe.ts'
import { encodeProgram, printCall, printProgram } from './program.ts'
import type { Call, Program } from './program.ts'
import { KernelLog, readModules } from './readings.ts'
import type { Refusals } from './refusals.ts'
import { CallTally } from './tally.ts'

export interface FuzzPlan {
  /** The time for new programs, after those of the corpus. */
  readonly seconds: number
  readonly seed: number
  /** Runs only this iteration of the seed, or only this program of the corpus. */
  readonly only?: string | undefined
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

export interface Finding extends Suspicion {
  /** A seed and an iteration, or a program of the corpus. */
  readonly from: string
  readonly program: string
}

interface Parts {
  readonly lazaret: Lazaret
  readonly guest: Guest
  readonly allowed: AllowedValues
  readonly refusals: Refusals
  /** The neighbours' complaints since the last call. */
  readonly complaints: () => readonly string[]
}

interface Origin {
  readonly from: string
  readonly program: Program
}

const repetitions = 3
const minimising = { repetitions: 2, attemptsMax: 16 }
/** One cause moves the same reading in many programs, so the first few are enough. */
const sameMax = 3
const progressMs = 10_000
/** The kernel's log and modules are read after this many runs, so a finding there names the last of them. */
const runsBetweenLooks = 20

export class Fuzzer implements Disposable {
  readonly findings: Finding[] = []
  readonly tally: CallTally
  unconfirmed = 0
  readonly #plan: FuzzPlan
  readonly #parts: Parts
  readonly #log = new KernelLog()
  readonly #modules = new Set(readModules())
  #toldMs = performance.now()

  constructor(plan: FuzzPlan, parts: Parts) {
    this.#plan = plan
    this.#parts = parts
    this.tally = new CallTally(parts.refusals)
  }

  async fuzz(): Promise<void> {
    const { seed, seconds, signal } = this.#plan
    for (const { name, program } of this.#known()) {
      if (signal.aborted) return
      await this.#tryOne({ from: `corpus ${name}`, program })
    }
    const only = Number(this.#plan.only ?? Number.NaN)
    const endMs = performance.now() + seconds * 1000
    for (let iteration = Number.isNaN(only) ? 0 : only; ; iteration++) {
      const isOver = Number.isNaN(only) ? performance.now() > endMs : iteration > only
      if (isOver || signal.aborted || (this.#plan.only !== undefined && Number.isNaN(only))) break
      const program = generateProgram(seed, iteration, this.#parts.allowed)
      await this.#tryOne({ from: `seed ${seed}, iteration ${iteration}`, program })
    }
    this.#lookAtKernel('the last runs')
  }

  /** Checks for effects that a single run does not show. */
  note(what: string, error: unknown): void {
    this.findings.push({ what, moved: (error as Error).message, from: 'all runs together', program: '' })
  }

  [Symbol.dispose](): void {
    this.#log[Symbol.dispose]()
  }

  #known() {
    const { only } = this.#plan
    return readCorpus().filter(({ name }) => only === undefined || name === only)
  }

  async #tryOne(origin: Origin): Promise<void> {
    const first = await this.#watch(origin.program)
    const wrong = this.tally.add(origin.program, first.outcome, first.stdout)
    for (const call of wrong) this.#tellOfFilter(call, origin)
    this.#tellProgress(origin)
    if (this.tally.runs % runsBetweenLooks === 0) this.#lookAtKernel(origin.from)
    const isNew = ({ what }: Suspicion) =>
      this.findings.filter((finding) => finding.what === what).length < sameMax
    const suspicions = listSuspicions(first).filter(isNew)
    if (suspicions.length === 0 || this.#plan.signal.aborted) return
    this.#plan.say(
      `${origin.from}: ${suspicions.map(({ what, moved }) => `${what} (${moved})`).join(', ')}; again`,
    )
    const confirmed = await this.#repeat(origin.program, suspicions)
    if (confirmed.length === 0) this.unconfirmed++
    else await this.#keep(origin, confirmed)
  }

  async #watch(program: Program) {
    const { lazaret, guest, complaints } = this.#parts
    const calls = encodeProgram(program, guest.numbers)
    return observe(runGuest(lazaret, guest.program, calls), complaints)
  }

  /** The suspicions that every repetition shows, too. */
  async #repeat(
    program: Program,
    suspicions: readonly Suspicion[],
    times = repetitions,
  ): Promise<readonly Suspicion[]> {
    let left = suspicions
    for (let time = 0; time < times && left.length > 0; time++) {
      const again = listSuspicions(await this.#watch(program))
      left = again.filter(({ what }) => left.some((suspicion) => suspicion.what === what))
    }
    return left
  }

  async #keep({ from, program }: Origin, confirmed: readonly Suspicion[]): Promise<void> {
    const stillMoves = async (candidate: Program) => {
      if (this.#plan.signal.aborted) return false
      return (await this.#repeat(candidate, confirmed.slice(0, 1), minimising.repetitions)).length > 0
    }
    const smallest = await minimise({ program, stillMoves, attemptsMax: minimising.attemptsMax })
    const text = printProgram(smallest)
    for (const { what, moved } of confirmed) {
      this.findings.push({ what, moved, from, program: text })
      this.#plan.say(`FOUND ${what}, ${moved}, by ${from}:\n${indent(text)}`)
    }
  }

  /** Not a noisy reading: the call succeeded although the rules refuse it. */
  #tellOfFilter(call: Call, { from, program }: Origin): void {
    const what = `the filter let ${call.name} through`
    if (this.findings.some((finding) => finding.what === what)) return
    this.findings.push({ what, moved: printCall(call), from, program: printProgram(program) })
    this.#plan.say(`FOUND ${what}, ${printCall(call)}, by ${from}`)
  }

  #lookAtKernel(from: string): void {
    const modules = readModules().filter((name) => !this.#modules.has(name))
    for (const name of modules) this.#modules.add(name)
    const moved = [...modules.map((name) => `module ${name}`), ...this.#log.readNew()]
    for (const line of moved) {
      const finding = {
        what: 'the kernel logged something',
        moved: line,
        from: `runs until ${from}`,
        program: '',
      }
      this.findings.push(finding)
      this.#plan.say(`FOUND ${finding.what}: ${line}, ${finding.from}`)
    }
  }

  #tellProgress({ from }: Origin): void {
    if (performance.now() - this.#toldMs < progressMs) return
    this.#toldMs = performance.now()
    const { runs, calls } = this.tally
    this.#plan.say(`${runs} runs, ${calls} calls, ${this.findings.length} findings; ${from}`)
  }
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}
