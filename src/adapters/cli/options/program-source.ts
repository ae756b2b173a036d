/** Finds the program for `lazaret run`: a file, standard input, or the code itself. */
import { defaultLimits } from '../../../core/limits.ts'
import type { Language, RuntimeName } from '../../../core/request.ts'
import { readFileBounded, readStandardInput, type ReadBound } from './bounded-read.ts'
import { findLanguage } from './language-by-extension.ts'
import type { ProgramSource } from './request-from-flags.ts'
import type { RunFlags } from './run-options.ts'
import { UsageError } from './usage-error.ts'

export interface ProgramFlags extends RunFlags {
  readonly language?: Language
  readonly eval?: string
  readonly runtime?: RuntimeName
}

/** `operands` follow the options: the file and the program's arguments, or with `--eval` only the arguments. */
export async function readProgram(
  operands: readonly string[],
  flags: ProgramFlags,
  { codeBytes, signal }: { codeBytes?: number; signal: AbortSignal },
): Promise<ProgramSource> {
  const runtime = flags.runtime === undefined ? {} : { runtime: flags.runtime }
  // A snippet has only one language.
  const named = flags.language ?? (flags.runtime === 'snippet' ? 'javascript' : undefined)
  if (flags.eval !== undefined) {
    return {
      code: flags.eval,
      language: requireLanguage(named, '--eval'),
      args: operands,
      ...runtime,
    }
  }
  const [file, ...args] = operands
  if (file === undefined) {
    throw new UsageError('nothing to run.', 'Name a file, - for standard input, or --eval <code>.')
  }
  if (file === '-' && flags.stdin === '-') {
    throw new UsageError(
      'standard input cannot be both the program and its input.',
      'Put one of them in a file.',
    )
  }
  // Checked before reading, so a missing option does not make the command wait for the terminal.
  const language = requireLanguage(named ?? findLanguage(file), file === '-' ? 'standard input' : file)
  const bound: ReadBound = { bytesMax: codeBytes ?? defaultLimits.codeBytes, limit: 'codeBytes', signal }
  const bytes = file === '-' ? await readStandardInput(bound) : await readFileBounded(file, bound)
  return { code: decode(bytes, file), language, args, ...runtime }
}

function requireLanguage(language: Language | undefined, source: string): Language {
  if (language !== undefined) return language
  throw new UsageError(
    source === '--eval' || source === 'standard input'
      ? `the language of ${source} is not known.`
      : `the extension of ${source} names no language.`,
    'Add --language javascript, typescript, python or shell.',
  )
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError(
      `${file === '-' ? 'standard input' : file} is not UTF-8 text.`,
      'Pass the source code of a program.',
    )
  }
}
