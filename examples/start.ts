/**
 * Runs every example and prints how each ended: `npm start`. The exit code is 0 only if all ended as expected,
 * including the misbehaving ones. On a machine that does not reach `standard`, such as a plain container, they run at
 * `restricted`, and the output says so first. `npm start -- --minimum standard` refuses that.
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { createLazaret, type Lazaret, LazaretError, type ProtectionLevel } from '../src/index.ts'
import { layBait } from './bait.ts'
import type { Example } from './example.ts'
import { createJobs } from './jobs.ts'
import { createMisbehaviour } from './misbehaviour.ts'
import { clearProgress, printHeader, printNoteRow, printResultRow, showProgress } from './table.ts'

const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())

process.exitCode = await start(interruption.signal)

async function start(signal: AbortSignal): Promise<number> {
  const { values } = parseArgs({ options: { minimum: { type: 'string' } } })
  await using bait = await layBait()
  const named = values.minimum as ProtectionLevel | undefined
  const refusal = await whyNothingRuns(named ?? 'standard')
  if (refusal !== undefined && named !== undefined) return reportEnd(refusal, 69)
  if (refusal !== undefined) {
    console.log(`${refusal}\n\nThe examples accept level restricted:\n`)
    const weaker = await whyNothingRuns('restricted')
    if (weaker !== undefined) return reportEnd(weaker, 69)
  }
  const minimumProtection = named ?? (refusal === undefined ? 'standard' : 'restricted')
  await using lazaret = createLazaret({ minimumProtection })
  const hasProcessLimit = await holdsProcessLimit(lazaret)
  const surprises: string[] = []

  printHeader()
  for (const example of [...(await createJobs()), ...createMisbehaviour(bait)]) {
    if (signal.aborted) break
    if (example.needsProcessLimit && !hasProcessLimit) {
      printNoteRow(
        example.path,
        'skipped: nothing here enforces the limit on processes; see `lazaret doctor`',
      )
      continue
    }
    showProgress(example.path)
    if (!(await runExample(lazaret, example, signal)))
      surprises.push(`${example.path}: expected: ${example.expected}`)
  }

  console.log()
  if (signal.aborted) return reportEnd('Interrupted.', 130)
  if (surprises.length > 0) return reportEnd(`Not as expected:\n  ${surprises.join('\n  ')}`, 1)
  return reportEnd('Every program ended as expected.', 0)
}

/** Whether it ended as expected. */
async function runExample(lazaret: Lazaret, example: Example, signal: AbortSignal): Promise<boolean> {
  try {
    const code = await readFile(new URL(example.path, import.meta.url), 'utf8')
    const result = await lazaret.run({ ...example.request, code, signal })
    clearProgress()
    printResultRow(example.path, result)
    return example.isExpected(result)
  } catch (error) {
    clearProgress()
    if (!(error instanceof LazaretError)) throw error
    printNoteRow(example.path, `${error.message} ${error.hint}`)
    return false
  }
}

/** What to do if the machine does not reach the required level. */
async function whyNothingRuns(minimumProtection: ProtectionLevel): Promise<string | undefined> {
  await using lazaret = createLazaret({ minimumProtection })
  try {
    await lazaret.run({ language: 'javascript', code: '1' })
    return undefined
  } catch (error) {
    if (!(error instanceof LazaretError)) throw error
    return `${error.message}\n${error.hint}\nMore: \`npm run lazaret -- doctor\`.`
  }
}

/**
 * Checks the receipt of a harmless run first, because a fork bomb must not start without a real limit. Without namespaces
 * the program would not recognize its workspace either, and ends.
 */
async function holdsProcessLimit(lazaret: Lazaret): Promise<boolean> {
  try {
    const { receipt } = await lazaret.run({ language: 'shell', code: 'true', limits: { processesMax: 32 } })
    return (
      receipt.protection !== 'restricted' && ['cgroup', 'rlimit'].includes(receipt.limits.processesMax.by)
    )
  } catch (error) {
    if (error instanceof LazaretError) return false
    throw error
  }
}

function reportEnd(line: string, exitCode: number): number {
  console.log(line)
  return exitCode
}
