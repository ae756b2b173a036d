/**
 * The script for the shell of a session. Each command has its own bash. Before the command, that bash takes over the
 * state of the previous one; at its end, it writes its own state to descriptor 3. Output is never inspected, so there
 * are no markers to forge.
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
 * In the order of `parseState`; functions, which may be long, at the end. Bash writes line by line, and each line costs
 * it a system call, so the options are not printed by `set +o` and `shopt -p`.
 */
const say = [
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

/** Removes traps of the command, which would print into the state. */
const endTraps = '\\builtin trap - DEBUG ERR'
const sayState = `{ ${say}; } 2>/dev/null >&3`
const sayStateOnce = `{ ${endTraps};[[ -v lazaret ]]; } >/dev/null 2>&1 || ${sayState}`

/** Quotes a text as one word; it cannot contain NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * Bytes as one word of ASCII without line ends: bash counts lines, and those around a command must not be among the
 * command's own.
 */
function quoteInLine(bytes: string): string {
  const octal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
  return `$'${bytes.replace(/[\\']/g, '\\$&').replace(/[^ -~]/g, octal)}'`
}

/** Read before the command: one line. */
const evaluate = (bytes: string) => `\\builtin eval ${quoteInLine(bytes)}`

export type Variables = Readonly<Record<string, string | undefined>>

/** Commands that export these, or take them away where they have no value. */
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

/** Functions last: until then none has the name of a command of the others. Aliases are not yet looked at. */
function restore({ shoptions, variables, aliases, functions }: ShellState): string {
  const texts = [shoptions, variables, aliases, functions].filter((text) => text !== '')
  return `{ \\builtin :;${texts.map((text) => `${evaluate(text)};`).join('')} } 2>/dev/null`
}

export interface CommandText {
  readonly command: string
  /** In bytes, as for the state. */
  readonly folder: string
  readonly state: ShellState
  /** Exported before it, and kept. */
  readonly variables: Variables
  /** Exported for it alone. */
  readonly lent: Variables
  /** Whether standard input continues after the script. */
  readonly hasStdin: boolean
}

/** What is on descriptor 3 when the folder of a command is not there. */
export const folderIsGone = 'gone'

/** The second script: the command. */
export function commandScript(text: CommandText): string {
  const { command, folder, state, variables, lent, hasStdin } = text
  return [
    enter(folder, `\\builtin printf ${folderIsGone} >&3;`),
    rememberFolder(state),
    '\\builtin unset -v lazaret',
    evaluate(state.lateVariables),
    evaluate(bytesOf(exportAll(variables))),
    ...lend(lent),
    `\\builtin trap ${quoteInLine(sayStateOnce)} EXIT`,
    ...setOptions(state),
    // A redirection of `builtin exec` would not last.
    `${evaluate(bytesOf(command))} 3>&-${hasStdin ? '' : ' </dev/null'}`,
    // Writes the state here, too, in case the command has its own EXIT trap. Lazaret's trap then writes nothing.
    `{ lazaret=$?;${endTraps}; } >/dev/null 2>&1`,
    sayState,
    '{ \\builtin set +v;\\builtin exit "$lazaret"; } 2>/dev/null',
  ].join(';')
}

/** First writes the session's own values of these names, so that it gets them back (`takeBackLoan`). */
function lend(variables: Variables): string[] {
  const names = Object.keys(variables)
  if (names.length === 0) return []
  const sayOwn = `{ \\builtin declare -p ${names.join(' ')};\\builtin printf "\\0"; } 2>/dev/null >&3`
  return [sayOwn, evaluate(bytesOf(exportAll(variables)))]
}

/** Both scripts as one, for a shell whose standard input is a terminal. It leaves no state. */
export function terminalScript({
  command,
  folder,
  state,
  variables,
}: Omit<CommandText, 'hasStdin' | 'lent'>): string {
  return [
    restore(state),
    enter(folder),
    rememberFolder(state),
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

/** A command of a secure space, which leaves no state. What bash adds to its variables is taken away again. */
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

/** Entering the folder made it the one that was left. */
function rememberFolder({ oldFolder }: ShellState): string {
  const value = oldFolder === '' ? '' : `=${quoteInLine(oldFolder)}`
  return `{ \\builtin unset -v OLDPWD;\\builtin declare -x OLDPWD${value}; } 2>/dev/null`
}

/** The parser reads nothing of Lazaret's script after them: aliases hold, and the modes of the command. */
function setOptions({ expandsAliases, options }: ShellState): string[] {
  const aliases = `\\builtin shopt -${expandsAliases ? 's' : 'u'} expand_aliases`
  return options === '' ? [aliases] : [aliases, `{ \\builtin set ${options}; } 2>/dev/null`]
}
