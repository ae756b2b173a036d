/** Turns the flags of `run` into a request, and the flags that `exec` shares into options of its sandbox. */
import { defaultLimits, type Limits } from '../../../core/limits.ts'
import type { Language, RunRequest, RuntimeName } from '../../../core/request.ts'
import { readFileBounded, readStandardInput, type ReadBound } from './bounded-read.ts'
import { collectFiles } from './guest-files.ts'
import { limitsFrom } from './limit-flags.ts'
import type { CellFlags, RunFlags } from './run-options.ts'
import { parseSecrets } from './secret-flag.ts'
import { UsageError } from './usage-error.ts'

/** The program to run, without its environment. */
export interface ProgramSource {
  readonly code: string
  readonly language: Language
  readonly runtime?: RuntimeName
  readonly args: readonly string[]
}

export interface RequestContext {
  readonly signal: AbortSignal
  /** The configured limits, which bound what is worth reading. */
  readonly limits?: Partial<Limits>
  readonly warn: (message: string) => void
}

/** What both `run` and `exec` give to their guests. */
export type GuestSupplies = Required<Pick<RunRequest, 'files' | 'env' | 'limits'>> &
  Pick<RunRequest, 'stdin' | 'collect' | 'network' | 'secrets' | 'environment'>

export async function createRequest(
  program: ProgramSource,
  flags: RunFlags,
  context: RequestContext,
): Promise<RunRequest> {
  const supplies = await readSupplies(flags, context)
  return {
    ...program,
    ...supplies,
    signal: context.signal,
    ...(flags.input !== undefined && { input: await readInput(flags.input, boundOf(context)) }),
    ...(flags.client !== undefined && { client: flags.client }),
  }
}

export async function readSupplies(flags: CellFlags, context: RequestContext): Promise<GuestSupplies> {
  if (flags.collect !== undefined && flags.outputDir === undefined && flags.json !== true) {
    throw new UsageError(
      '--collect needs a place for the files.',
      'Add --output-dir <dir> to write them there, or --json to have them in the document.',
    )
  }
  const bound = boundOf(context)
  const { files, skipped } = await collectFiles(flags.file ?? [], bound)
  warnOfSkipped(skipped, context.warn)
  return {
    files,
    env: parseEnv(flags.env ?? []),
    limits: limitsFrom(flags),
    ...(flags.stdin !== undefined && { stdin: await readStdin(flags.stdin, bound) }),
    ...(flags.collect !== undefined && { collect: flags.collect }),
    ...networkFrom(flags),
    ...(flags.secret !== undefined && { secrets: parseSecrets(flags.secret, process.env) }),
    ...(flags.envName !== undefined && { environment: flags.envName }),
  }
}

function networkFrom({ network, allow, deny, secret }: CellFlags): Pick<RunRequest, 'network'> {
  if (secret !== undefined && allow === undefined)
    throw new UsageError(
      '--secret is for hosts of --allow, but --allow is missing.',
      'Add --allow <host> for each host of the secret.',
    )
  if (allow === undefined && deny === undefined) return network === undefined ? {} : { network }
  if (network !== undefined)
    throw new UsageError(
      '--network and --allow cannot be combined.',
      'With --allow a program reaches only the named hosts.',
    )
  if (allow === undefined)
    throw new UsageError('--deny restricts --allow, but --allow is missing.', 'Add --allow <host>.')
  return { network: { allow, ...(deny !== undefined && { deny }) } }
}

function boundOf({ limits, signal }: RequestContext): ReadBound {
  return { bytesMax: limits?.inputBytes ?? defaultLimits.inputBytes, limit: 'inputBytes', signal }
}

/** `KEY=VALUE` pairs; the last one wins. */
export function parseEnv(pairs: readonly string[], flag = '--env'): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=')
      if (equals <= 0) {
        throw new UsageError(
          `${flag} ${pair}: not of the form KEY=VALUE.`,
          `Variables of this shell cannot be passed by name alone; write ${flag} KEY="$KEY".`,
        )
      }
      return [pair.slice(0, equals), pair.slice(equals + 1)]
    }),
  )
}

async function readInput(text: string, bound: ReadBound): Promise<unknown> {
  const isFile = text.startsWith('@')
  const json = isFile ? (await readFileBounded(text.slice(1), bound)).toString('utf8') : text
  try {
    return JSON.parse(json)
  } catch (error) {
    const where = isFile ? `--input ${text}` : '--input'
    throw new UsageError(
      `${where} is not JSON: ${(error as SyntaxError).message}.`,
      `Write --input '{"limit": 10}', or --input @file.json.`,
    )
  }
}

function readStdin(path: string, bound: ReadBound): Promise<Uint8Array> {
  return path === '-' ? readStandardInput(bound) : readFileBounded(path, bound)
}

/** Names the first few: a folder of packages may hold thousands of links. */
function warnOfSkipped(skipped: readonly string[], warn: (message: string) => void): void {
  const namedMax = 10
  for (const path of skipped.slice(0, namedMax)) warn(`left out ${path}: not a regular file.`)
  if (skipped.length > namedMax)
    warn(`left out ${skipped.length - namedMax} more that are not regular files.`)
}
