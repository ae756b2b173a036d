/**
 * The state that a session keeps from one command to the next. It is guest text, which only the session's next bash
 * evaluates, as bytes, one character for each, because a folder's name need not be UTF-8.
 */
export interface ShellState {
  /** Working folder. */
  readonly folder: string
  /** The previous working folder, or empty. */
  readonly oldFolder: string
  /** Arguments of `set`, for options that differ from those of a new shell. */
  readonly options: string
  readonly expandsAliases: boolean
  /** A command that sets the options of `shopt`. The following properties are commands, too. */
  readonly shoptions: string
  readonly variables: string
  /** TMOUT, which is set late: as the timeout of `read`, it would end a shell that waits for its command. */
  readonly lateVariables: string
  readonly aliases: string
  readonly functions: string
}

/**
 * The bytes of the whole state; the launcher forwards no more (native/cell/spawns.h). If it is longer, its last parts
 * keep their earlier values.
 */
export const stateBytesMax = 1024 * 1024

export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

export function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString()
}

export function freshState(folder: string, variables: string, lateVariables: string): ShellState {
  return {
    folder: bytesOf(folder),
    oldFolder: '',
    options: '',
    expandsAliases: true,
    shoptions: '',
    variables: bytesOf(variables),
    lateVariables: bytesOf(lateVariables),
    aliases: '',
    functions: '',
  }
}

/** No system call takes a longer path. */
const pathBytesMax = 4096
/** Many times what a shell with all options on prints: guests can write a state themselves. */
const listLengthMax = 4096
/** A state has seven parts; what follows the last one is ignored. */
const splitMax = 8

/** The state after a command. Undefined if the shell was killed, or replaced by a program (`exec`). */
export function parseState(said: string, before: ShellState): ShellState | undefined {
  const [folder, oldFolder, options, shoptions, variables, aliases, functions] = said
    .split('\0', splitMax)
    .slice(0, -1)
  if (folder?.startsWith('/') !== true) return undefined
  return {
    ...before,
    ...(shoptions === undefined ? {} : parseShoptions(shoptions)),
    ...(variables === undefined ? {} : parseVariables(variables)),
    folder: folder.length > pathBytesMax ? before.folder : folder.replace(/\n$/, ''),
    oldFolder: oldFolder === undefined || oldFolder.length > pathBytesMax ? before.oldFolder : oldFolder,
    options: options === undefined ? before.options : parseOptions(options),
    aliases: aliases ?? before.aliases,
    functions: functions ?? before.functions,
  }
}

/** The position of the variables in the state, see `stateCommands` in shell-text.ts. */
const variablesPart = 4
/** One line for each variable, because bash quotes line breaks. */
const declaration = /^declare -(\S+) ([A-Za-z_][A-Za-z0-9_]*)(?:=.*)?\n?/gm

/**
 * The state after a command with additional variables of these names: they get the session's values again, or are
 * removed.
 */
export function restoreOwnVariables(said: string, names: readonly string[]): string {
  const end = said.indexOf('\0')
  if (names.length === 0 || end === -1) return said
  const parts = said.slice(end + 1).split('\0')
  const removed = new Set(names)
  const own = [...said.slice(0, end).matchAll(declaration)].filter(([, flags = '']) => flags.includes('x'))
  const rest = parts[variablesPart]?.replace(declaration, (all, _flags, name: string) =>
    removed.has(name) ? '' : all,
  )
  if (rest !== undefined) parts[variablesPart] = own.map(([all]) => all).join('') + rest
  return parts.join('\0')
}

/** The variable of Lazaret's scripts. No state keeps it, because it would disturb them if it were read-only. */
const ownVariable = /^declare -\S+ lazaret(=.*)?$/m
const lateVariable = /^declare -\S+ TMOUT(=.*)?$/m

function parseVariables(said: string): Pick<ShellState, 'variables' | 'lateVariables'> {
  const [late] = lateVariable.exec(said) ?? []
  return {
    variables: said.replace(ownVariable, '').replace(lateVariable, ''),
    lateVariables: late === undefined ? '' : `\\builtin ${late}`,
  }
}

const usualOptions = ['braceexpand', 'hashall', 'interactive-comments']
/** With these options a shell does not run its script. */
const endingOptions = ['noexec', 'onecmd']

function parseOptions(said: string): string {
  const on = namesIn(said)
  const changed = [
    ...usualOptions.filter((name) => !on.includes(name)).map((name) => `+o ${name}`),
    ...on.filter((name) => !usualOptions.includes(name)).map((name) => `-o ${name}`),
  ]
  return changed.filter((option) => !endingOptions.includes(option.slice(3))).join(' ')
}

function parseShoptions(said: string): Pick<ShellState, 'expandsAliases' | 'shoptions'> {
  const on = namesIn(said)
  // Alias definitions must not be expanded while they are read.
  const others = on.filter((name) => name !== 'expand_aliases')
  const set = `\\builtin shopt -u \${BASHOPTS//:/ };\\builtin shopt -s ${others.join(' ')}`
  return {
    expandsAliases: on.includes('expand_aliases'),
    // Without names, `shopt` prints.
    shoptions: `[[ $BASHOPTS == '${others.join(':')}' ]] || { ${set}; } >/dev/null`,
  }
}

/** The enabled options, from SHELLOPTS and BASHOPTS. */
function namesIn(list: string): string[] {
  return list
    .slice(0, listLengthMax)
    .split(':')
    .filter((name) => /^[a-z0-9_-]+$/.test(name))
}
