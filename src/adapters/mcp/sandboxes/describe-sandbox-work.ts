/** What a model gets from code and commands in a sandbox: the same as from a run, and the state of the context. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { LazaretError } from '../../../core/errors/errors.ts'
import { sayOutcome } from '../../../core/outcome.ts'
import { clipText } from '../../../result/clip-text.ts'
import type { CodeResult } from '../../../sandbox/contexts/context-types.ts'
import type { ExecResult } from '../../../sandbox/types.ts'
import { describeError, describeResult } from '../describe-result.ts'

export function describeCode(result: CodeResult): CallToolResult {
  const { note, isStateKept } = result
  const described = describeResult(result)
  const data = {
    ...(described.structuredContent as object),
    isStateKept,
    ...(note !== undefined && { note }),
  }
  return { ...described, structuredContent: data }
}

/** Characters of each stream: as data, and in the text. */
const [dataLengthMax, textLengthMax] = [40_000, 14_000]

export function describeCommand(result: ExecResult): CallToolResult {
  const { outcome, exitCode, success, truncated, duration, isolation } = result
  const clipped = new Set<string>(truncated)
  const clip = (name: 'stdout' | 'stderr') => {
    const { text, isClipped } = clipText(result[name], dataLengthMax)
    if (isClipped) clipped.add(name)
    return text
  }
  const [stdout, stderr] = [clip('stdout'), clip('stderr')]
  const { note } = isolation
  const ending = `The command ${sayOutcome(outcome)}.`
  const said = [stdout, stderr].map((text) => clipText(text, textLengthMax).text)
  const parts = [...said, ...(success ? [] : [ending]), note ?? '']
  return {
    content: [{ type: 'text', text: parts.filter((part) => part.trim() !== '').join('\n') || '(no output)' }],
    structuredContent: {
      outcome: outcome.kind,
      exitCode,
      stdout,
      stderr,
      ...(!success && { error: { name: outcome.kind, message: ending } }),
      durationMs: Math.round(duration),
      truncated: [...clipped],
    },
    ...(!success && { isError: true }),
  }
}

/** For a tool without a program's data: only the error. */
export function describeRefusal(
  error: LazaretError,
  data: Readonly<Record<string, unknown>>,
): CallToolResult {
  const { content, structuredContent } = describeError(error)
  const { error: said } = structuredContent as { readonly error?: unknown }
  return { content, structuredContent: { ...data, error: said }, isError: true }
}
