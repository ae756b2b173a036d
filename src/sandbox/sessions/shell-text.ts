/**
 * The scripts for the shells of a session. Each command has its own bash. Before the command, that bash restores the
 * state that the previous one left; after the command, it writes its state to descriptor 3. Output is never inspected,
 * so guests cannot forge the end of a command.
 * Source: bash(1), `read -N`, `declare -p`, `trap`.
 */
import { bytesOf } from './shell-state.ts'
import type { ShellState } from './shell-state.ts'

/*
 * A session may have functions and aliases with the names of builtins, such as `cd`; `\\builtin` bypasses both. Its variables
 * may be read-only, so these scripts use only one name, which no state keeps.
 */

/** Digits of a length. */
const lengthDigits = 8

/**
 * The PATH of commands: the interpreters of runs, then the machine's programs, independent of the host's PATH. `first`
 * is the folder of the Python of runs, if that is not the machine's own.
 */
export function programPath(first: string | undefined): string {
  const folders = [
    '/opt/lazaret/bin',
    first,
    '/usr/local/bin',
    '/usr/bin',
    '/bin',
    '/usr/local/sbin',
    '/usr/sbin',
  ]
  return folders.filter((folder) => folder !== undefined).join(':')
}

/** Reads one script: its length, the script. Both are ASCII, where a character is a byte in every locale. */
export const bootstrap =
  `\\builtin read -rN ${lengthDigits} lazaret;` +
  '\\builtin read -rN "$lazaret" lazaret;\\builtin eval "$lazaret"'

/** The first folder of every shell, because guests may have made /workspace inaccessible, even to themselves. */
export const startFolder = '/'

/** How a script goes to the shell's standard input. */
export function frameScript(script: string): Buffer {
  return Buffer.from(`${String(script.length).padStart(lengthDigits, '0')}${script}`)
}

/**
 * The commands that print a state, in the order of `parseState`. Functions are last because they may be long. Bash
 * writes each line separately, and each line costs it a system call, so the options are printed as two lists and not
 * with `set +o` and `shopt -p`, which print a line for each option.
 */
const stateCommands = [
  'pwd',
  'printf "\\0%s\\0%s\\0%s\\0" "${OLDPWD-}" "$SHELLOPTS" "$BASHOPTS"',
  'declare -px',
  'printf "\\0"',
  'alias -p',
  'printf "\\0"',
  'declare -f',
  'printf "\\0"',
]
  .map((command) => `\\builtin ${command}`)
  .join(';')

/** Removes traps of the command, whose output would become part of the state. */
const endTraps = '\\builtin trap - DEBUG ERR'
const printState = `{ ${stateCommands}; } 2>/dev/null >&3`
const printStateOnce = `{ ${endTraps};[[ -v lazaret ]]; } >/dev/null 2>&1 || ${printState}`

/** Quotes a text as one word; it cannot contain NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

const [quoteMark, backslash, firstPrintable, lastPrintable, zero] = [0x27, 0x5c, 0x20, 0x7e, 0x30]
/** A backslash and three octal digits. */
const escapedBytesMax = 4

/**
 * Quotes bytes as one ASCII word without line breaks. Bash counts lines, and lines of these scripts must not change the
 * line numbers of the command. A loop, because a state is quoted for each command, and a pattern takes the engine a tenth
 * of a second for a megabyte of bytes to escape.
 */
function quoteInLine(bytes: string): string {
  const source = Buffer.from(bytes, 'latin1')
  const quoted = Buffer.allocUnsafe(escapedBytesMax * source.length)
  let length = 0
  for (let at = 0; at < source.length; at++) {
    const byte = source[at] ?? 0
    const isPrintable = byte >= firstPrintable && byte <= lastPrintable
    if (!isPrintable || byte === quoteMark || byte === backslash) quoted[length++] = backslash
    if (isPrintable) quoted[length++] = byte
    else for (const shift of [6, 3, 0]) quoted[length++] = zero + ((byte >> shift) & 7)
  }
  return `$'${quoted.toString('latin1', 0, length)}'`
}

const evaluate = (bytes: string) => `\\builtin eval ${quoteInLine(bytes)}`

export type Variables = Readonly<Record<string, string | undefined>>

/** Commands that export these variables, and unset those without a value. */
export function exportAll(variables: Variables): string {
  return Object.entries(variables)
    .map(([name, value]) =>
      value === undefined ? `\\builtin unset -v ${name}` : `\\builtin declare -x ${name}=${quote(value)}`,
    )
    .join('\n')
}

/** The first script: everything of a state but its folder and its options. */
export function restoreScript(state: ShellState): string {
  return `${restore(state)};${bootstrap}`
}

/**
 * Functions are last, because a function may have the name of a command that restores the rest. Aliases are not expanded
 * yet.
 */
function restore({ shoptions, variables, aliases, functions }: ShellState): string {
  const texts = [shoptions, variables, aliases, functions].filter((text) => text !== '')
  return `{ \\builtin :;${texts.map((text) => `${evaluate(text)};`).join('')} } 2>/dev/null`
}

export interface CommandText {
  readonly command: string
  /** Bytes, one character for each, as in the state. */
  readonly folder: string
  readonly state: ShellState
  /** Exported before the command; the session keeps them. */
  readonly variables: Variables
  /** Exported only for this command. */
  readonly commandVariables: Variables
  /** Whether standard input continues after the script. */
  readonly hasStdin: boolean
}

/** Written to descriptor 3 if the folder of a command does not exist. */
export const folderIsGone = 'gone'

/** The second script: the command. */
export function commandScript(text: CommandText): string {
  const { command, folder, state, variables, commandVariables, hasStdin } = text
  return [
    enter(folder, `\\builtin printf ${folderIsGone} >&3;`),
    restoreOldFolder(state),
    '\\builtin unset -v lazaret',
    evaluate(state.lateVariables),
    evaluate(bytesOf(exportAll(variables))),
    ...exportForCommand(commandVariables),
    `\\builtin trap ${quoteInLine(printStateOnce)} EXIT`,
    ...setOptions(state),
    // A redirection of `builtin exec` would not last.
    `${evaluate(bytesOf(command))} 3>&-${hasStdin ? '' : ' </dev/null'}`,
    // Writes the state here, too, in case the command has its own EXIT trap. Lazaret's trap then writes nothing.
    `{ lazaret=$?;${endTraps}; } >/dev/null 2>&1`,
    printState,
    '{ \\builtin set +v;\\builtin exit "$lazaret"; } 2>/dev/null',
  ].join(';')
}

/** First writes the session's own values of these variables, for `restoreOwnVariables`. */
function exportForCommand(variables: Variables): string[] {
  const names = Object.keys(variables)
  if (names.length === 0) return []
  const printOwn = `{ \\builtin declare -p ${names.join(' ')};\\builtin printf "\\0"; } 2>/dev/null >&3`
  return [printOwn, evaluate(bytesOf(exportAll(variables)))]
}

/** Both scripts as one, for a shell whose standard input is a terminal. It leaves no state. */
export function terminalScript({
  command,
  folder,
  state,
  variables,
}: Omit<CommandText, 'hasStdin' | 'commandVariables'>): string {
  return [
    restore(state),
    enter(folder),
    restoreOldFolder(state),
    evaluate(bytesOf(exportAll(variables))),
    ...setOptions(state),
    evaluate(bytesOf(command)),
  ].join(';')
}

/** Bash sets these itself. */
const variablesOfBash = ['OLDPWD', 'PWD', 'SHLVL', 'lazaret']

export interface SecureText {
  readonly command: string
  readonly folder: string
  /** The variables that its environment already contains. */
  readonly variables: Readonly<Record<string, string>>
  readonly hasStdin: boolean
}

/** The script of a command in a secure space, which leaves no state. It unsets the variables that bash adds. */
export function secureScript({ command, folder, variables, hasStdin }: SecureText): string {
  const named = variablesOfBash.flatMap((name) => {
    const value = variables[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return [
    enter(folder),
    'unset lazaret OLDPWD; export -n PWD SHLVL',
    evaluate(bytesOf(exportAll(Object.fromEntries(named)))),
    ...(hasStdin ? [] : ['exec </dev/null']),
    evaluate(bytesOf(command)),
  ].join(';')
}

function enter(folder: string, before = ''): string {
  const complaint = quoteInLine(`Failed to change directory to ${folder}`)
  const give = `{ ${before}\\builtin printf '%s\\n' ${complaint} >&2;\\builtin exit 1; }`
  return `\\builtin cd -- ${quoteInLine(folder)} 2>/dev/null || ${give}`
}

/** Restores OLDPWD, which `cd` to the session's folder has changed. */
function restoreOldFolder({ oldFolder }: ShellState): string {
  const value = oldFolder === '' ? '' : `=${quoteInLine(oldFolder)}`
  return `{ \\builtin unset -v OLDPWD;\\builtin declare -x OLDPWD${value}; } 2>/dev/null`
}

/**
 * Bash has parsed the rest of the script when it executes this, because the script is one line. So aliases affect only
 * the command.
 */
function setOptions({ expandsAliases, options }: ShellState): string[] {
  const aliases = `\\builtin shopt -${expandsAliases ? 's' : 'u'} expand_aliases`
  return options === '' ? [aliases] : [aliases, `{ \\builtin set ${options}; } 2>/dev/null`]
}
