/**
 * What the shell of a session is told, and what it says of itself. Each command has a bash of its own. Before it, that
 * bash takes over the state that the one before left; when it ends, it says its own on descriptor 3. Nothing that a
 * command prints is looked at, so there are no markers to forge.
 * Source: bash(1), `read -N`, `declare -p`, `trap`.
 */

/** What a session keeps from one command to the next: texts of the guest's, which nothing but its next bash reads. */
export interface ShellState {
  /** Working folder. */
  readonly folder: string
  /** Exported variables, functions, aliases and shell options, as commands that make them. */
  readonly definitions: string
  /** `set` options, apart: they would change how the text around the command is read. */
  readonly options: string
}

/*
 * A session may have functions and aliases with the names of builtins, `cd` above all; `\\builtin` gets past both.
 */

/** Reads one script: its length in bytes, a line end, the script. In locale C, where a character is a byte. */
const readScript =
  'LC_ALL=C IFS= \\builtin read -r;LC_ALL=C IFS= \\builtin read -rN "$REPLY";\\builtin eval "$REPLY"'

/** `bash -c` this: it takes over a state, and then waits for its command. */
export const bootstrap = 'LC_ALL=C IFS= read -r;LC_ALL=C IFS= read -rN "$REPLY";eval "$REPLY"'

const sayState =
  '{ \\builtin printf "%s\\0" "$PWD"; \\builtin declare -px; \\builtin declare -f; \\builtin alias -p; ' +
  '\\builtin shopt -p; \\builtin printf "\\0"; \\builtin set +o; \\builtin printf "\\0end"; } ' +
  '2>/dev/null >&3'

/** Of every shell until its script enters another: guests may have closed /workspace to everybody, themselves included. */
export const startFolder = '/'

/** How a script goes to the shell's standard input. */
export function frameScript(script: string): Buffer {
  const bytes = Buffer.from(script)
  return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes])
}

/** As one word, whatever it holds; a NUL cannot be in one. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The same without line ends: bash counts lines, and those around a command must not be among the command's own. */
function quoteInLine(text: string): string {
  const escaped = text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
  return `$'${escaped}'`
}

/** Read before the command: one line. */
const evaluate = (script: string) => `\\builtin eval ${quoteInLine(script)}`

export type Variables = Readonly<Record<string, string | undefined>>

/** Commands that export these, or take them away where they have no value. */
export function exportAll(variables: Variables): string {
  return Object.entries(variables)
    .map(([name, value]) => (value === undefined ? `unset ${name}` : `declare -x ${name}=${quote(value)}`))
    .join('\n')
}

/** The first script: everything of a state but its folder and its options. */
export function restoreScript({ definitions }: ShellState): string {
  return `{ shopt -s expand_aliases;${evaluate(definitions)}; } 2>/dev/null;${readScript}`
}

export interface CommandText {
  readonly command: string
  readonly folder: string
  readonly state: ShellState
  /** Exported before it, and kept. */
  readonly variables: Variables
  /** Whether standard input goes on behind the script. */
  readonly hasStdin: boolean
}

/** The second script: the command. */
export function commandScript({ command, folder, state, variables, hasStdin }: CommandText): string {
  return [
    enter(folder),
    evaluate(exportAll(variables)),
    '\\builtin unset REPLY',
    ...(hasStdin ? [] : ['\\builtin exec </dev/null']),
    `\\builtin trap ${quoteInLine(sayState)} EXIT`,
    `{ ${evaluate(state.options)}; } 2>/dev/null`,
    `${evaluate(command)} 3>&-`,
    // Once more where the command has a trap of its own; then nothing more is said.
    `{ REPLY=$?; } 2>/dev/null`,
    sayState,
    '{ \\builtin exec 3>&-; \\builtin exit "$REPLY"; } 2>/dev/null',
  ].join(';')
}

/** Both scripts as one, for a shell whose standard input is a terminal. It leaves no state. */
export function terminalScript(
  definitions: string,
  { command, folder, state, variables }: CommandText,
): string {
  return [
    `{ shopt -s expand_aliases;${evaluate(`${definitions}\n${exportAll(variables)}`)}; } 2>/dev/null`,
    enter(folder),
    `{ ${evaluate(state.options)}; } 2>/dev/null`,
    evaluate(command),
  ].join(';')
}

/** A command of a secure space: its variables are in its environment already, and it leaves no state. */
export function secureScript({
  command,
  folder,
  hasStdin,
}: Pick<CommandText, 'command' | 'folder' | 'hasStdin'>): string {
  return [
    enter(folder),
    // What bash adds by itself is no variable that anybody asked for.
    'unset REPLY OLDPWD; export -n PWD SHLVL',
    ...(hasStdin ? [] : ['\\builtin exec </dev/null']),
    evaluate(command),
  ].join(';')
}

function enter(folder: string): string {
  const complaint = quoteInLine(`Failed to change directory to ${folder}`)
  return `\\builtin cd -- ${quoteInLine(folder)} 2>/dev/null || { \\builtin printf '%s\\n' ${complaint} >&2; \\builtin exit 1; }`
}

/** What is left behind when a command ends; undefined when the shell was killed, or exchanged for a program. */
export function parseState(said: string): ShellState | undefined {
  const [folder = '', definitions = '', options = '', end = ''] = said.split('\0')
  if (!end.startsWith('end') || !folder.startsWith('/')) return undefined
  return { folder, definitions, options: options.trim() || ':' }
}

export function freshState(folder: string, variables: Variables): ShellState {
  return { folder, definitions: exportAll(variables), options: ':' }
}
