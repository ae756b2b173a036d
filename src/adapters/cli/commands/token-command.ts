/** `lazaret token`: who may call `lazaret serve`. The file has hashes; a token itself is shown once, when it is made. */
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { randomText } from '../../../core/clock.ts'
import type { TokenGrant, TokenRecord, TokenScope } from '../../http/api-tokens.ts'
import type { CommandContext } from './command-context.ts'
import { usualPlaces } from '../configuration/config-places.ts'
import { printJson } from '../output/print-json.ts'
import { describeSystemError } from '../output/system-error.ts'
import { toSingleLine } from '../output/terminal-text.ts'
import { parseCount } from '../options/units.ts'
import { UsageError } from '../options/usage-error.ts'

const help = `
Examples:
  lazaret token create --name ci --scopes run,sandbox --rate 60/m --running 4
  lazaret token revoke ci

Scopes: run (programs), sandbox (sandboxes and their contents), admin (statistics and metrics).
A running server reloads the file when it changes, and ends all work of a revoked token.`

interface FileFlags {
  readonly tokens?: string
  readonly json?: boolean
}

interface CreateFlags extends FileFlags {
  readonly name: string
  readonly scopes: string
  readonly allow?: string
  readonly rate?: number
  readonly running?: number
}

export function addTokenCommand(program: Command, context: CommandContext): void {
  const token = program
    .command('token')
    .description('create, list and revoke the tokens of lazaret serve')
    .addHelpText('after', help)
  const create = withFile(token.command('create'))
    .description('create a token and print it; only its hash is stored')
    .requiredOption('--name <name>', 'the user of the token: the client in policies and in the audit log')
    .option('--scopes <list>', 'what it allows: run, sandbox, admin', 'run,sandbox')
    .option('--rate <count/m>', 'pieces of work that it may start per minute', parseRate)
    .option('--running <count>', 'pieces of work at one time', parseCount)
    .option(
      '--allow <list>',
      'what its requests may use: network, ports, preload, readable, workspace, degraded-secrets',
    )
    .action(() => context.perform(create, () => createToken(create.opts<CreateFlags>())))
  const list = withFile(token.command('list'))
    .description('print the names, scopes and bounds of all tokens')
    .action(() => context.perform(list, () => listTokens(list.opts<FileFlags>(), context)))
  const revoke = withFile(token.command('revoke <name>'))
    .description('revoke a token; its sandboxes end')
    .action((name: string) => context.perform(revoke, () => revokeToken(name, revoke.opts<FileFlags>())))
}

function withFile(command: Command): Command {
  return command
    .option('--tokens <file>', 'the file of tokens (default: tokens.json in ~/.config/lazaret)')
    .option('--json', 'print exactly one JSON document on standard output')
}

function parseRate(text: string): number {
  const [, count] = /^(\d{1,7})\/m$/.exec(text) ?? []
  if (count === undefined || Number(count) < 1) throw new InvalidArgumentError('Write a rate such as 60/m.')
  return Number(count)
}

/** The options that set the fields of an entry. */
const flagOf: Readonly<Record<string, string>> = { name: '--name', perMinute: '--rate', running: '--running' }

/** 256 bits. The prefix tells anyone who finds a token what it is. */
export function makeToken(): string {
  return `lzt_${Buffer.from(randomText(32), 'latin1').toString('base64url')}`
}

async function createToken({ name, scopes, allow, rate, running, ...flags }: CreateFlags): Promise<number> {
  const { hashOf } = await import('../../http/bearer-tokens.ts')
  const { findMistake, tokenScopes, tokenGrants } = await import('../../http/api-tokens.ts')
  const path = pathOf(flags)
  const token = makeToken()
  const record: TokenRecord = {
    name,
    sha256: hashOf(token).toString('hex'),
    scopes: readList<TokenScope>('--scopes', scopes, tokenScopes),
    ...(allow !== undefined && { allow: readList<TokenGrant>('--allow', allow, tokenGrants) }),
    ...(rate !== undefined && { perMinute: rate }),
    ...(running !== undefined && { running }),
  }
  const mistake = findMistake(record)
  if (mistake !== undefined)
    throw new UsageError(
      `${flagOf[mistake.field] ?? mistake.field} ${mistake.message}.`,
      'lazaret token --help has an example.',
    )
  await change(path, (tokens) => {
    if (tokens.some((one) => one.name === name))
      throw new UsageError(
        `a token ${toSingleLine(name)} already exists.`,
        'Revoke it first, or choose another name.',
      )
    return [...tokens, record]
  })
  if (flags.json === true) printJson({ name, token, file: path })
  else process.stdout.write(`${token}\n`)
  return 0
}

async function listTokens(flags: FileFlags, context: CommandContext): Promise<number> {
  const path = pathOf(flags)
  const tokens = (await read(path, flags.tokens !== undefined)).map(({ sha256: _hash, ...shown }) => shown)
  if (tokens.length === 0) context.warn(`there are no tokens in ${path}.`)
  if (flags.json === true) printJson({ file: path, tokens })
  for (const { name, scopes, allow = [], perMinute, running } of flags.json === true ? [] : tokens) {
    const bounds = [
      ...(perMinute === undefined ? [] : [`${perMinute}/m`]),
      ...(running === undefined ? [] : [`${running} at a time`]),
      ...(allow.length === 0 ? [] : [`may ask for ${allow.join(', ')}`]),
    ]
    process.stdout.write(`${[name, scopes.join(','), ...bounds].join('  ')}\n`)
  }
  return 0
}

async function revokeToken(name: string, flags: FileFlags): Promise<number> {
  const path = pathOf(flags)
  await change(path, (tokens) => {
    const left = tokens.filter((one) => one.name !== name)
    if (left.length === tokens.length)
      throw new UsageError(`no token is named ${toSingleLine(name)}.`, 'lazaret token list prints all names.')
    return left
  })
  if (flags.json === true) printJson({ name, file: path })
  return 0
}

function pathOf({ tokens }: FileFlags): string {
  if (tokens !== undefined) return tokens
  const { user } = usualPlaces()
  if (user === undefined)
    throw new UsageError('this user has no home folder.', 'Name the file: --tokens <file>')
  return join(user, 'tokens.json')
}

function readList<Word extends string>(flag: string, text: string, known: readonly Word[]): Word[] {
  const words = [...new Set(text.split(',').map((word) => word.trim()))]
  const unknown = words.find((word) => !(known as readonly string[]).includes(word))
  if (unknown === undefined) return words as Word[]
  throw new UsageError(
    `${flag}: unknown value ${JSON.stringify(unknown)}.`,
    `Use one or more of: ${known.join(', ')}`,
  )
}

/** Empty if the file does not exist. With `mustExist` that is an error. */
async function read(path: string, mustExist = false): Promise<TokenRecord[]> {
  const { readTokenFile } = await import('../../http/api-tokens.ts')
  try {
    return readTokenFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !mustExist) return []
    throw tokenFileError(error, path)
  }
}

/** Explains to the user why a token file cannot be used. */
export function tokenFileError(error: unknown, path: string): unknown {
  const reason = error instanceof SyntaxError ? error.message : describeSystemError(error)
  if (reason === undefined) return error
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
  return new UsageError(
    `cannot use ${toSingleLine(path)}: ${reason}.`,
    isMissing
      ? `Create it with: lazaret token create --name <name> --tokens ${toSingleLine(path)}`
      : 'Correct that, or name another file: --tokens <file>',
  )
}

/** Only one process can create the new file, so two concurrent changes cannot overwrite each other. */
async function change(path: string, decide: (tokens: TokenRecord[]) => TokenRecord[]): Promise<void> {
  const { formatTokenFile, parseTokenFile } = await import('../../http/api-tokens.ts')
  const fresh = `${path}.new`
  let isOurs = false
  // A change that is refused must not create the folder.
  if (!existsSync(dirname(path))) decide([])
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(fresh, '', { mode: 0o600, flag: 'wx' })
    isOurs = true
    const text = formatTokenFile(decide(await read(path)))
    parseTokenFile(text)
    writeFileSync(fresh, text)
    keepOwner(path, fresh)
    renameSync(fresh, path)
    isOurs = false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UsageError(
        `${toSingleLine(fresh)} exists: another command is changing the file, or was killed while it did.`,
        'Delete it if no such command is running.',
      )
    throw tokenFileError(error, path)
  } finally {
    if (isOurs) rmSync(fresh, { force: true })
  }
}

/** Only its owner can read the file, so it keeps its owner: a server that runs as another user must still read it. */
function keepOwner(path: string, fresh: string): void {
  const owner = statSync(path, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === statSync(fresh).uid) return
  try {
    chownSync(fresh, owner.uid, owner.gid)
  } catch (error) {
    throw new UsageError(
      `cannot give ${toSingleLine(path)} back to its owner, user ${owner.uid}: ${describeSystemError(error) ?? String(error)}.`,
      'Run the command as that user.',
    )
  }
}
