/** Plays a script of many entries in a new context, and compares each result with the expected one. */
import assert from 'node:assert/strict'

import type { CodeResult, RunCodeOptions, Sandbox } from '../../../src/index.ts'

export interface Expected {
  readonly value?: unknown
  readonly stdout?: string
  readonly stderr?: RegExp
  /** The kind of `Outcome`. Default `completed`. */
  readonly outcome?: CodeResult['outcome']['kind']
  readonly error?: RegExp
  /** The MIME types of its displays. */
  readonly shown?: readonly (readonly string[])[]
  readonly note?: RegExp
  readonly options?: Omit<RunCodeOptions, 'context' | 'language'>
  /** Interrupts it once it has printed something. */
  readonly isInterrupted?: boolean
}

/** An entry and its expected result. Without one it has to succeed without a value. `restart` restarts the context. */
export type Script = readonly (readonly [code: string, expected?: Expected] | 'restart')[]

/** Interrupted once it has reported that it is under way. */
export const interrupted: Expected = {
  outcome: 'cancelled',
  note: /interrupted.*still there/,
  stdout: 'ready\n',
  isInterrupted: true,
}

/** The parts that must be the same each time a script is played: all but times, memory and pictures. */
export type Played = Partial<
  Pick<CodeResult, 'outcome' | 'valueTagged' | 'valueText' | 'stdout' | 'stderr' | 'note'>
>

export async function playScript(
  sandbox: Sandbox,
  language: 'python' | 'javascript' | 'typescript',
  script: Script,
): Promise<Played[]> {
  const context = await sandbox.createCodeContext({ language })
  const played: Played[] = []
  for (const entry of script) {
    if (entry === 'restart') {
      await context.restart()
      continue
    }
    const [code, expected = {}] = entry
    const onStdout = expected.isInterrupted === true ? () => void context.interrupt() : undefined
    const result = await context.runCode(code, { ...expected.options, ...(onStdout && { onStdout }) })
    hold(code, result, expected)
    const { outcome, valueTagged, valueText, stdout, note } = result
    // The exact point of an interruption is random.
    const stderr = expected.isInterrupted === true ? '' : result.stderr
    played.push({
      outcome,
      valueTagged,
      ...(valueText !== undefined && { valueText }),
      stdout,
      stderr,
      ...(note === undefined ? {} : { note }),
    })
  }
  await sandbox.deleteCodeContext(context.id)
  return played
}

function hold(code: string, result: CodeResult, expected: Expected): void {
  const { outcome, stdout, stderr, note, displays } = result
  const transcript = `${code}\n${JSON.stringify(outcome)}\n${stderr}`
  assert.equal(
    outcome.kind,
    expected.outcome ?? (expected.error === undefined ? 'completed' : 'failed'),
    transcript,
  )
  assert.deepEqual(result.value, expected.value, transcript)
  if (expected.error !== undefined)
    assert.match(
      'error' in outcome ? `${outcome.error.name}: ${outcome.error.message}` : '',
      expected.error,
      transcript,
    )
  assert.equal(stdout, expected.stdout ?? '', transcript)
  assert.match(stderr, expected.stderr ?? ((expected.outcome ?? expected.error) ? /^/ : /^$/), transcript)
  assert.deepEqual(
    displays.map((shown) => Object.keys(shown)),
    expected.shown ?? [],
    transcript,
  )
  if (expected.note === undefined) assert.equal(note, undefined, transcript)
  else assert.match(note ?? '', expected.note, transcript)
}
