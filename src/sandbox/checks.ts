/** Checks of callers' arguments before anything is started. Each throws INVALID_REQUEST. */
import { constants } from 'node:os'
import { types } from 'node:util'

import { LazaretError } from '../core/errors/errors.ts'
import type { SignalName } from './processes/signal-name.ts'
import { isAbortSignal, plainBytes, readInput } from '../policy/hostile-input.ts'
import type { TerminalSize } from '../jail/cell/guest-process.ts'
import type { ExecOptions, Variables } from './types.ts'

const commandBytesMax = 1024 * 1024
const variableBytesMax = 128 * 1024
const variablesBytesMax = 512 * 1024
/** Far below ARGUMENTS_MAX of native/cell, above which the launcher considers a frame malformed. */
const variablesMax = 4096
const timeoutMsMax = 2 ** 31 - 1

export function refuse(detail: string): LazaretError {
  return new LazaretError('INVALID_REQUEST', { detail: `${detail}.` })
}

export function checkCommand(command: unknown): string {
  if (typeof command !== 'string') throw refuse('command: must be a string')
  if (command.trim() === '') throw refuse('No command provided')
  if (command.includes('\0')) throw refuse('command: must not contain a NUL')
  if (Buffer.byteLength(command) > commandBytesMax)
    throw refuse(`command: longer than ${commandBytesMax} bytes`)
  return command
}

/** Bash reserves these, so a command could not get them. */
const variablesOfBash = ['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'OLDPWD', 'PPID', 'PWD', 'SHELLOPTS', 'UID']

/** The variables that have a value. `field` is the name of the caller's option, for messages. */
export function checkVariables(
  variables: unknown,
  { keepsUnset = false, field = 'env' }: { readonly keepsUnset?: boolean; readonly field?: string } = {},
): Variables {
  if (variables === undefined) return {}
  // A Map has no own properties, so without this check it would silently be an empty environment.
  const given = readInput(() => {
    if (Object.prototype.toString.call(variables) === '[object Object]') return { ...(variables as object) }
    throw refuse(`${field}: must be a plain object`)
  })
  let bytes = 0
  const entries = Object.entries(given as Record<string, unknown>).filter(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw refuse(`Invalid environment variable name: ${JSON.stringify(name.slice(0, 100))}`)
    if (value === undefined) return keepsUnset
    if (typeof value !== 'string') throw refuse(`${field}.${name}: must be a string`)
    if (value.includes('\0')) throw refuse(`${field}.${name}: must not contain a NUL`)
    bytes += name.length + Buffer.byteLength(value)
    if (Buffer.byteLength(value) >= variableBytesMax - name.length || bytes > variablesBytesMax)
      throw new LazaretError('INPUT_TOO_LARGE', { detail: `${field}.${name}: too long for an environment.` })
    return true
  })
  if (entries.length > variablesMax)
    throw new LazaretError('INPUT_TOO_LARGE', { detail: `${field}: more than ${variablesMax} variables.` })
  return Object.fromEntries(entries) as Variables
}

/** The variables of one command. Throws INVALID_REQUEST for a name that `env` has too. */
function checkOwnVariables(given: unknown, env: Variables): Readonly<Record<string, string>> {
  const variables = checkVariables(given, { field: 'variables' }) as Readonly<Record<string, string>>
  for (const name of Object.keys(variables)) {
    if (variablesOfBash.includes(name)) throw refuse(`variables.${name}: bash sets this one itself`)
    if (Object.hasOwn(env, name)) throw refuse(`variables.${name}: is in env too`)
  }
  return variables
}

export function checkFolder(folder: unknown): string | undefined {
  if (folder === undefined) return undefined
  if (typeof folder !== 'string' || !folder.startsWith('/') || folder.includes('\0') || folder.length > 4096)
    throw refuse('cwd: must be an absolute path')
  return folder
}

export function checkName(name: unknown, what: string): string | undefined {
  if (name === undefined) return undefined
  if (typeof name !== 'string' || !/^[A-Za-z0-9._-]{1,100}$/.test(name))
    throw refuse(`${what}: must be 1 to 100 letters, digits, dots, dashes and underscores`)
  return name
}

export function checkMilliseconds(value: unknown, what: string): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0 || value > timeoutMsMax)
    throw refuse(`${what}: must be a number of milliseconds above 0 and at most ${timeoutMsMax}`)
  return value
}

export const execKeys: readonly (keyof ExecOptions)[] = [
  'env',
  'variables',
  'cwd',
  'timeout',
  'sessionId',
  'stdin',
  'signal',
  'onOutput',
  'home',
  'tty',
]

/** `undefined` means no options. Throws for anything but an object, and for unknown keys. */
export function checkKeys<T extends object>(options: T | undefined, keys: readonly (string & keyof T)[]): T {
  if (options === undefined) return {} as T
  return readInput(() => {
    if (Object.prototype.toString.call(options) !== '[object Object]')
      throw refuse(`options: must be an object; known keys: ${keys.join(', ')}`)
    const known: readonly string[] = keys
    for (const key of Object.keys(options))
      if (!known.includes(key))
        throw refuse(`unknown key ${JSON.stringify(key.slice(0, 100))}; known keys: ${keys.join(', ')}`)
    return { ...options }
  })
}

/** The options of a command: the variables with a value, and whether any were given. */
export interface CheckedExec extends ExecOptions {
  readonly env: Variables
  readonly variables: Readonly<Record<string, string>>
  readonly namesEnv: boolean
}

export function checkExecOptions(given?: ExecOptions): CheckedExec {
  const options = checkKeys(given, execKeys)
  const { stdin, onOutput, home, tty } = options
  if (stdin !== undefined && typeof stdin !== 'string' && plainBytes(stdin) === undefined)
    throw refuse('stdin: must be a string or bytes')
  if (onOutput !== undefined && typeof onOutput !== 'function') throw refuse('onOutput: must be a function')
  if (home !== undefined && home !== 'workspace') throw refuse("home: must be 'workspace'")
  checkFolder(options.cwd)
  checkName(options.sessionId, 'sessionId')
  if (options.timeout !== null) checkMilliseconds(options.timeout, 'timeout')
  checkAbort(options.signal)
  const env = checkVariables(options.env)
  return {
    ...options,
    ...(tty === undefined ? {} : { tty: checkSize(tty) }),
    env,
    variables: checkOwnVariables(options.variables, env),
    namesEnv: options.env !== undefined,
  }
}

export function checkAbort(signal: unknown): void {
  if (signal !== undefined && !isAbortSignal(signal)) throw refuse('signal: must be an AbortSignal')
}

export function checkSignal(name: unknown): SignalName {
  if (typeof name !== 'string' || !Object.hasOwn(constants.signals, name))
    throw refuse('signal: must be the name of one, such as SIGTERM')
  return name as SignalName
}

/** A plain copy of a regular expression, because a subclass may behave in any way. */
export function checkPattern(pattern: unknown): string | RegExp {
  if (typeof pattern === 'string') return pattern
  if (types.isRegExp(pattern)) return readInput(() => new RegExp(pattern))
  throw refuse('pattern: must be a string or a regular expression')
}

export function checkBytes(input: unknown): Uint8Array {
  if (typeof input === 'string') return Buffer.from(input)
  const bytes = plainBytes(input)
  if (bytes !== undefined) return bytes
  throw refuse('input: must be a string or bytes')
}

export function checkSize(size: unknown): TerminalSize {
  const { columns, rows } = readInput(() => ({ ...(size as Record<string, unknown>) }))
  const isCount = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535
  if (isCount(columns) && isCount(rows)) return { columns, rows }
  throw refuse('tty: must be { columns, rows }, whole numbers from 1 to 65535')
}
