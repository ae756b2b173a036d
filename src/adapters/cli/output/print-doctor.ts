/** The report of `lazaret doctor` for people: each finding, its meaning, and the fix. */
import type { FoundBy } from '../../../core/receipt.ts'
import type { ProbeReport, ProbeToolchain } from '../../../jail/machine/probe-report.ts'
import type { ConfigurationFile } from '../configuration/configuration.ts'
import { paint } from './colour.ts'
import { toSingleLine } from './terminal-text.ts'

type State = 'ok' | 'weaker' | 'missing'

interface Row {
  readonly state: State
  readonly name: string
  readonly observed: string
  readonly meaning?: string | undefined
  readonly fix?: string | undefined
}

const colours = { ok: 'green', weaker: 'yellow', missing: 'red' } as const satisfies Record<State, string>

const stateWidth = 'missing'.length + 2

export function printDoctor(report: ProbeReport, files: readonly ConfigurationFile[]): void {
  const lines = [...configurationLines(files), ...doctorLines(report, process.stdout)]
  for (const line of lines) process.stdout.write(`${line}\n`)
}

const origins = {
  flag: 'named by --config',
  environment: 'named by LAZARET_CONFIG',
  user: "the user's",
  system: "the system's",
  found: 'found in this folder or above',
} as const satisfies Record<ConfigurationFile['from'], string>

/** The configuration files that apply here, and how much each may change. */
export function configurationLines(files: readonly ConfigurationFile[]): string[] {
  if (files.length === 0) return ['configuration: none']
  const says = { full: 'sets every option', narrows: 'only narrows', none: 'ignored' } as const
  return files.map(({ path, from, use, reason }) => {
    const why = reason === undefined ? '' : `: ${toSingleLine(reason, lineLengthMax)}`
    return `configuration: ${toSingleLine(path, lineLengthMax)} (${origins[from]}, ${says[use]}${why})`
  })
}

/** Room for the longest path. */
const lineLengthMax = 4096

export function doctorLines(report: ProbeReport, stream: { readonly isTTY?: boolean }): string[] {
  const { launcher, layers, toolchains } = report
  const rows: Row[] = [
    ...layers,
    ...toolchains.map(toolchainRow),
    { state: launcher.state, name: 'launcher', observed: launcher.path, fix: launcher.fix },
  ]
  const nameWidth = Math.max(...rows.map(({ name }) => name.length))
  return [
    paint('bold', report.kernel, stream),
    ...rows.flatMap((row) => formatRow(row, nameWidth, stream)),
    '',
    ...levelLines(report, stream),
  ]
}

const reasons: Readonly<Record<FoundBy, string>> = {
  configured: 'named in `toolchains`',
  own: 'the one that runs Lazaret',
  packaged: 'from its npm package',
  path: 'first on PATH',
  system: "the system's",
}

function toolchainRow({ name, path, version, because, state, fix }: ProbeToolchain): Row {
  const why = because === undefined ? undefined : `(${reasons[because]})`
  const found = [version, path, why].filter((part) => part !== undefined).join('  ')
  return { state, name, observed: found === '' ? 'not found' : found, fix }
}

function formatRow(
  { state, name, observed, meaning, fix }: Row,
  nameWidth: number,
  stream: { readonly isTTY?: boolean },
): string[] {
  const advice = fix
    ?.split('\n')
    .map((line, index) => paint('bold', `${index === 0 ? '→ ' : '  '}${line}`, stream))
  const below = [...(meaning === undefined ? [] : [meaning]), ...(advice ?? [])]
  return [
    `${paint(colours[state], state.padEnd(stateWidth - 2), stream)}  ${name.padEnd(nameWidth)}  ${observed}`,
    ...below.map((line) => `${' '.repeat(stateWidth)}${line}`),
  ]
}

function levelLines(
  { level, minimum, meetsMinimum }: ProbeReport,
  stream: { readonly isTTY?: boolean },
): string[] {
  const line = `protection level: ${level} (minimum: ${minimum})`
  if (meetsMinimum)
    return [paint(level === 'strong' || level === 'standard' ? 'green' : 'yellow', line, stream)]
  return [
    paint('red', line, stream),
    'Runs are refused here until the fixes above raise the level, or until the minimum is lowered by name.',
  ]
}
