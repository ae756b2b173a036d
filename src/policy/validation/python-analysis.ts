/**
 * Reads a program in Python with Python's own `ast`, in a cell, so that a program that crashes the parser harms nothing
 * else.
 */
import { readFileSync } from 'node:fs'

import { LazaretError } from '../../core/errors/errors.ts'
import type { RunRequest } from '../../core/request.ts'
import type { RunResult } from '../../core/result.ts'
import { checkRows, findingsMax, unreadable } from './findings.ts'
import type { FoundRow } from './findings.ts'
import { pythonTables } from './python-tables.ts'

/** Something that runs requests, such as a Lazaret. */
export type RunsPrograms = (request: RunRequest) => Promise<Pick<RunResult, 'outcome' | 'value'>>

export interface PythonSource {
  readonly code: string
  readonly allowed?: readonly string[] | undefined
}

const MiB = 1024 * 1024
/** Far more time than 50,000 characters take. The memory is the default, so that parked workers can serve it. */
const limits = { wallMs: 5000, resultBytes: MiB, outputBytes: 64 * 1024 } as const

/**
 * Compiling takes as many milliseconds as reading a program, so it is done once, in a cell that runs no foreign code.
 */
const compileCode = `
import binascii, marshal, sys
code = compile(input_data["source"], "analyze.py", "exec")
[sys.hexversion, binascii.b2a_base64(marshal.dumps((code, input_data["tables"])), newline=False).decode()]
`
/** Code that another version of Python compiled is not used. */
const analyzeCode = `
import binascii, marshal, sys
found = None
if sys.hexversion == input_data["version"]:
    analysis, tables = marshal.loads(binascii.a2b_base64(input_data["program"]))
    exec(analysis)
found
`

interface Compiled {
  readonly version: number
  readonly program: string
}

/** The caller's part of the request: the client, and the signal that ends it. */
export type Asking = Pick<RunRequest, 'client' | 'signal'>

export class PythonAnalysis {
  readonly #run: RunsPrograms
  #compiled: Promise<Compiled> | undefined

  constructor(run: RunsPrograms) {
    this.#run = run
  }

  /** Throws what `run` throws, and the signal's reason. */
  async analyze(source: PythonSource, asking: Asking): Promise<readonly FoundRow[]> {
    const rows = await this.#analyze(source, asking)
    if (rows !== null) return rows
    // A different Python from the one that compiled it.
    this.#compiled = undefined
    const again = await this.#analyze(source, asking)
    if (again === null) throw broken('It was compiled by another Python.')
    return again
  }

  /** Compiles the analysis, so that the first program need not wait for it. */
  async warmUp(asking: Asking = {}): Promise<void> {
    await this.#compile(asking)
  }

  async #analyze({ code, allowed }: PythonSource, asking: Asking): Promise<readonly FoundRow[] | null> {
    const compiled = await this.#compile(asking)
    const { outcome, value } = await this.#run({
      ...asking,
      language: 'python',
      code: analyzeCode,
      input: { ...compiled, code, most: findingsMax, allowed: allowed ?? null },
      limits,
    })
    asking.signal?.throwIfAborted()
    switch (outcome.kind) {
      case 'completed':
        return value === undefined || value === null ? null : requireRows(value)
      case 'failed':
      case 'syntax-error':
        // The analysis catches all errors that a program can cause.
        throw broken(outcome.error.message)
      case 'timed-out':
        return unreadable('taking too long')
      case 'out-of-memory':
      case 'limit-exceeded':
        return unreadable('taking too much memory')
      case 'cancelled':
      case 'denied':
      case 'killed':
        // Deep nesting crashes some of Python's parsers.
        return unreadable('too deep')
    }
  }

  #compile(asking: Asking): Promise<Compiled> {
    this.#compiled ??= this.#compileNow(asking).catch((error: unknown) => {
      this.#compiled = undefined
      throw error
    })
    return this.#compiled
  }

  async #compileNow({ client }: Asking): Promise<Compiled> {
    const source = readFileSync(new URL('./analyze.py', import.meta.url), 'utf8')
    const input = { source, tables: pythonTables }
    // Ignores the caller's signal, because other callers may wait for the same result.
    const who = client === undefined ? {} : { client }
    const { value } = await this.#run({ ...who, language: 'python', code: compileCode, input, limits })
    const [version, program] = Array.isArray(value) ? (value as readonly unknown[]) : []
    if (typeof version !== 'number' || typeof program !== 'string') throw broken('It cannot be compiled.')
    return { version, program }
  }
}

function requireRows(value: unknown): readonly FoundRow[] {
  const rows = checkRows(value)
  if (rows === undefined) throw broken('Its answer has the wrong form.')
  return rows
}

function broken(detail: string): LazaretError {
  return new LazaretError('INTERNAL', { detail: `Validation of Python failed: ${detail.slice(0, 500)}` })
}
